// SPDX-License-Identifier: LGPL-2.1-or-later
// The application's CUDA stream. To build with CUDA, define WITH_CUDA and link cudart. Without
// CUDA, batches are always in host memory.
#pragma once

#include <cstring>
#include <stdexcept>

#ifdef WITH_CUDA
#include <cuda_runtime_api.h>

constexpr const char *kTensors = "other/tensors(ANY)";

class Stream {
 public:
  Stream() = default;
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  void *handle() {
    if (stream_ == nullptr) check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    return stream_;
  }
  /// Queues a copy to the host. If no stream was created, data is in host memory.
  void copy(void *to, const void *from, size_t bytes) {
    if (stream_ == nullptr) return static_cast<void>(std::memcpy(to, from, bytes));
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
  }
  /// Waits for the work that is queued on this stream, and for no other.
  void wait() {
    if (stream_ != nullptr) check(cudaStreamSynchronize(stream_));
  }

 private:
  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
  }
  cudaStream_t stream_ = nullptr;
};
#else
constexpr const char *kTensors = "other/tensors";

class Stream {
 public:
  void *handle() { return nullptr; }
  void copy(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
  void wait() {}
};
#endif
