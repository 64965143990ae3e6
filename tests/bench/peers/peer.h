// SPDX-License-Identifier: LGPL-2.1-or-later
// What the peers' programs in C++ share. peers/common.py is the same for Python.
#pragma once

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include "../rotation.h"

namespace bench {

/// One way of a peer to do a work.
struct Peer {
  std::string work, who;
  Shape shape;
  std::function<Bytes(int pattern)> frame;
  std::function<void(const uint8_t *in, uint8_t *out)> call;
  /// Throws where a result is not what we make of the same frame.
  std::function<void(const Bytes &actual, const uint8_t *expected)> compare;
  size_t expected_bytes;  ///< of our result
};

inline Bytes read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("there is no result of ours");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// All peers of a program, one after the other: what goes wrong with one is its row.
class Peers {
 public:
  Peers(const Options &options, cudaStream_t stream) : options_(options), stream_(stream) {}

  /// Our result is that of `expected`, which differs from the work where the peer does.
  template <class Make>
  void add(const std::string &work, const std::string &who, const std::string &expected,
           const Make &make) {
    Line line;
    line.text("work", work).text("who", who);
    try {
      const Peer peer = make();
      time(peer, expected, line);
    } catch (const std::exception &error) {
      line.text("why", error.what());
    }
    cudaGetLastError();  // what one has left is not the next one's
    line.print();
  }

 private:
  void time(const Peer &peer, const std::string &expected, Line &line) {
    const Rotation rotation(peer.shape, patterns_of(peer.shape, peer.frame));
    if (options_.kernel_times.empty()) compare(peer, rotation, expected);
    int frame = 0;
    add_times(line, options_, stream_, peer.shape.batch, [&] {
      peer.call(rotation.in(frame), rotation.out(frame));
      frame = rotation.next(frame);
    });
  }

  void compare(const Peer &peer, const Rotation &rotation, const std::string &name) {
    const Bytes expected = read_file(options_.results + "/expected/" + name);
    const size_t count = expected.size() / peer.expected_bytes;
    if (count == 0) throw std::runtime_error("our result is too short");
    rotation.for_each_result(peer.call, [&](int frame, const Bytes &actual) {
      const size_t pattern = static_cast<size_t>(frame) % count;
      peer.compare(actual, expected.data() + pattern * peer.expected_bytes);
    });
  }

  const Options &options_;
  cudaStream_t stream_;
};

// ------------------------------------------------------------------------------------- tolerances

/// Peers may place a sample up to a pixel of the source elsewhere (up to 2.3 levels, 1.2 on average),
/// take the nearest chroma sample, and round to whole levels between steps: 1.75 levels of 255 on
/// average. One value of 200 may be more than 16 off: a row or column at an edge, of which each has
/// its own idea. At 3:1 and with 44 % pad a result that is a pixel off differs by 2 on average, one of
/// another range by 2.8. Another matrix, by 0.9, would pass: peers are compared with our result of
/// theirs.
class Agreement {
 public:
  void add(double difference) {
    const double size = std::fabs(difference);
    sum_ += size;
    if (!(size <= 16.0)) ++far_;  // or no number
    ++count_;
  }
  void check() const {
    const double mean = sum_ / count_, far = far_ / count_;
    if (mean <= 1.75 && far <= 0.005) return;
    char text[100];
    std::snprintf(text, sizeof(text), "%.2f levels off ours on average, %.2f %% of them by over 16",
                  mean, 100.0 * far);
    throw std::runtime_error(text);
  }

 private:
  double sum_ = 0.0, far_ = 0.0, count_ = 0.0;
};

/// `levels` are what 1.0 of the values is.
template <class T>
void compare_about(const Bytes &actual, const uint8_t *expected, double levels) {
  const auto *const a = reinterpret_cast<const T *>(actual.data());
  const auto *const b = reinterpret_cast<const T *>(expected);
  Agreement agreement;
  for (size_t i = 0; i < actual.size() / sizeof(T); ++i)
    agreement.add(levels * (static_cast<double>(a[i]) - static_cast<double>(b[i])));
  agreement.check();
}

constexpr int kBins = 256;

/// Bins of int32 and ours.
inline void compare_bins(const Bytes &actual, const uint8_t *expected) {
  const auto *const a = reinterpret_cast<const int32_t *>(actual.data());
  const auto *const b = reinterpret_cast<const uint64_t *>(expected);
  for (int i = 0; i < kBins; ++i)
    if (static_cast<uint64_t>(static_cast<int64_t>(a[i])) != b[i])
      throw std::runtime_error("counts " + std::to_string(a[i]) + " in bin " + std::to_string(i) +
                               ", we " + std::to_string(b[i]));
}

/// Of colours, whose grey level a peer rounds its own way: the same number of pixels, and a mean
/// that is at most a level off.
inline void compare_bins_about(const Bytes &actual, const uint8_t *expected) {
  const auto *const a = reinterpret_cast<const int32_t *>(actual.data());
  const auto *const b = reinterpret_cast<const uint64_t *>(expected);
  double pixels = 0.0, expected_pixels = 0.0, sum = 0.0;
  for (int i = 0; i < kBins; ++i) {
    pixels += a[i];
    expected_pixels += static_cast<double>(b[i]);
    sum += i * (a[i] - static_cast<double>(b[i]));
  }
  if (pixels != expected_pixels) throw std::runtime_error("counts another number of pixels");
  if (std::fabs(sum / pixels) > 1.0) throw std::runtime_error("its mean is not ours");
}

}  // namespace bench
