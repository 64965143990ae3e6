// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames and results in memory, of which each call takes the next.
#pragma once

#include <cstring>

#include "frames.h"
#include "measure.h"

namespace bench {

/// Memory of the device, or of the host where the device writes there itself.
class Buffer {
 public:
  explicit Buffer(size_t bytes, bool pinned = false) : pinned_(pinned) {
    check(pinned ? cudaMallocHost(&data_, bytes) : cudaMalloc(&data_, bytes));
  }
  ~Buffer() { pinned_ ? cudaFreeHost(data_) : cudaFree(data_); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  template <class T = uint8_t>
  T *data() const {
    return static_cast<T *>(data_);
  }

 private:
  void *data_ = nullptr;
  bool pinned_;
};

/// Of a frame and its result.
struct Shape {
  size_t in_bytes, out_bytes;
  int batch = 1;        ///< frames a call, which lie one behind the other
  bool pinned = false;  ///< whether results go to the host's memory
};

class Rotation {
 public:
  Rotation(const Shape &shape, const std::vector<Bytes> &patterns)
      : shape_(shape),
        in_count_(whole_calls(frames_of(shape.in_bytes))),
        out_count_(std::min(in_count_, whole_calls(frames_of(shape.out_bytes)))),
        in_(shape.in_bytes * static_cast<size_t>(in_count_)),
        out_(shape.out_bytes * static_cast<size_t>(out_count_), shape.pinned) {
    for (int i = 0; i < in_count_; ++i)
      check(cudaMemcpy(in_.data() + shape.in_bytes * static_cast<size_t>(i),
                       patterns[static_cast<size_t>(i) % patterns.size()].data(), shape.in_bytes,
                       cudaMemcpyHostToDevice));
  }

  int frames() const { return in_count_; }
  /// The first frame of the call after that which begins with this one.
  int next(int frame) const { return (frame + shape_.batch) % in_count_; }
  const uint8_t *in(int frame) const {
    return in_.data() + shape_.in_bytes * static_cast<size_t>(frame);
  }
  uint8_t *out(int frame) const {
    return out_.data() + shape_.out_bytes * static_cast<size_t>(frame % out_count_);
  }

  /// Calls take(frame, result) with every result of the first calls, each poisoned before.
  template <class Call, class Take>
  void for_each_result(const Call &call, const Take &take) const {
    const int frames = std::min(in_count_, std::max(4 * kPatterns, shape_.batch));
    Bytes result(shape_.out_bytes);
    for (int frame = 0; frame < frames; ++frame) {
      if (frame % shape_.batch == 0) {
        poison(frame);
        call(in(frame), out(frame));
        check(cudaDeviceSynchronize());
      }
      check(cudaMemcpy(result.data(), out(frame), result.size(), cudaMemcpyDefault));
      take(frame, result);
    }
  }

 private:
  int whole_calls(int frames) const {
    return (frames + shape_.batch - 1) / shape_.batch * shape_.batch;
  }

  void poison(int frame) const {
    const size_t bytes = shape_.out_bytes * static_cast<size_t>(shape_.batch);
    if (shape_.pinned) {
      std::memset(out(frame), 0xa5, bytes);
      return;
    }
    check(cudaMemset(out(frame), 0xa5, bytes));
    check(cudaDeviceSynchronize());
  }

  Shape shape_;
  int in_count_, out_count_;
  Buffer in_, out_;
};

/// Frames for a Rotation, made by `frame`.
template <class Frame>
std::vector<Bytes> patterns_of(const Shape &shape, const Frame &frame) {
  std::vector<Bytes> patterns;
  const int count = std::min(frames_of(shape.in_bytes), kPatterns);
  for (int i = 0; i < count; ++i) patterns.push_back(frame(i));
  return patterns;
}

}  // namespace bench
