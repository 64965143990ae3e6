// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the programs in C++ that time other software. common.py is the counterpart for Python.
#pragma once

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include "../rotation.h"

namespace bench {

/// One implementation of a work in other software.
struct Peer {
  std::string work, who;
  Shape shape;
  std::function<Bytes(int pattern)> frame;
  std::function<void(const uint8_t *in, uint8_t *out)> call;
  /// Throws if a result differs from ours for the same frame.
  std::function<void(const Bytes &actual, const uint8_t *expected)> compare;
  size_t expected_bytes;  ///< size of our result
};

inline Bytes read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("bench-gpu wrote no result to compare with");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs the peers of a program one after the other. If one fails, its row contains the reason.
class Peers {
 public:
  Peers(const Options &options, cudaStream_t stream) : options_(options), stream_(stream) {}

  /// `expected` names our result to compare with. It differs from `work` if the peer computes
  /// something slightly different.
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
    cudaGetLastError();  // clears the error for the next peer
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
    if (count == 0) throw std::runtime_error("the result of bench-gpu is too short");
    rotation.for_each_result(peer.call, [&](int frame, const Bytes &actual) {
      const size_t pattern = static_cast<size_t>(frame) % count;
      peer.compare(actual, expected.data() + pattern * peer.expected_bytes);
    });
  }

  const Options &options_;
  cudaStream_t stream_;
};

// ------------------------------------------------------------------------------------- tolerances

/// The mean difference may be 1.75 levels of 255. Other software may place a sample up to a pixel
/// of the source elsewhere (up to 2.3 levels, 1.2 on average), use the nearest chroma sample, and
/// round to whole levels between steps. One value of 200 may differ by more than 16, for a row or
/// column at an edge, where implementations differ. At 3:1 and with 44 % padding, a result that is
/// shifted by a pixel differs by 2 on average, and one with another range by 2.8. One with another
/// matrix differs by 0.9 and would pass, so the results that are compared have the same matrix.
class Agreement {
 public:
  void add(double difference) {
    const double size = std::fabs(difference);
    sum_ += size;
    if (!(size <= 16.0)) ++far_;  // also if it is not a number
    ++count_;
  }
  void check() const {
    const double mean = sum_ / count_, far = far_ / count_;
    if (mean <= 1.75 && far <= 0.005) return;
    char text[120];
    std::snprintf(
        text, sizeof(text),
        "differs from ours by %.2f levels on average, %.2f %% of the values by more than 16", mean,
        100.0 * far);
    throw std::runtime_error(text);
  }

 private:
  double sum_ = 0.0, far_ = 0.0, count_ = 0.0;
};

/// A difference of 1.0 between values is `levels` levels.
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

/// Compares bins of int32 with ours.
inline void compare_bins(const Bytes &actual, const uint8_t *expected) {
  const auto *const a = reinterpret_cast<const int32_t *>(actual.data());
  const auto *const b = reinterpret_cast<const uint64_t *>(expected);
  for (int i = 0; i < kBins; ++i)
    if (static_cast<uint64_t>(static_cast<int64_t>(a[i])) != b[i])
      throw std::runtime_error("bin " + std::to_string(i) + " is " + std::to_string(a[i]) +
                               ", ours is " + std::to_string(b[i]));
}

/// For histograms of color pictures, whose gray levels other software rounds differently: compares
/// the number of pixels exactly, and the mean to one level.
inline void compare_bins_about(const Bytes &actual, const uint8_t *expected) {
  const auto *const a = reinterpret_cast<const int32_t *>(actual.data());
  const auto *const b = reinterpret_cast<const uint64_t *>(expected);
  double pixels = 0.0, expected_pixels = 0.0, sum = 0.0;
  for (int i = 0; i < kBins; ++i) {
    pixels += a[i];
    expected_pixels += static_cast<double>(b[i]);
    sum += i * (a[i] - static_cast<double>(b[i]));
  }
  if (pixels != expected_pixels) throw std::runtime_error("the number of pixels differs from ours");
  if (std::fabs(sum / pixels) > 1.0)
    throw std::runtime_error("the mean differs from ours by more than one level");
}

}  // namespace bench
