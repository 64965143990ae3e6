// SPDX-License-Identifier: LGPL-2.1-or-later
// A CUDA stream of the application's own. To build with CUDA, define MULTICAM_CUDA and link cudart;
// without, batches come in memory of the host, wherever they were made.
#pragma once

#include <cstring>
#include <stdexcept>

#ifdef MULTICAM_CUDA
#include <cuda_runtime_api.h>

constexpr const char *kTensors = "other/tensors(ANY)";

class Stream {
 public:
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  void *handle() {
    if (stream_ == nullptr) check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    return stream_;
  }
  /// Copies to the host and waits, behind all that the stream has queued. Without the stream, data is
  /// on the host, where there may be no CUDA.
  void fetch(void *to, const void *from, size_t bytes) {
    if (stream_ == nullptr) return static_cast<void>(std::memcpy(to, from, bytes));
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
    check(cudaStreamSynchronize(stream_));
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
  void fetch(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
};
#endif
