// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>

#include "call.h"
#include "device.h"

namespace cudatensor::cuda {

template <class... Params, class... Args>
void launch(const char *name, void (*kernel)(Params...), dim3 grid, dim3 block, cudaStream_t stream,
            const Args &...args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  call(name, [&] { return cudaLaunchKernelEx(&config, kernel, args...); });
}

/// Calls `queue` with the caller's stream; where there is none, with this thread's own, and waits.
template <class Queue>
void queue_on(Stream stream, const Queue &queue) {
  if (stream.handle != nullptr) return queue(handle_of(stream));
  queue(cudaStreamPerThread);
  call("cudaStreamSynchronize", cudaStreamSynchronize, cudaStreamPerThread);
}

inline unsigned blocks_for(int64_t work, int64_t block) {
  return static_cast<unsigned>((work + block - 1) / block);
}

}  // namespace cudatensor::cuda
