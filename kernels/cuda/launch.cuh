// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/call.h"
#include "kernels/cuda/device.h"
#include "kernels/tensor.h"

namespace cudatensor::cuda {

/// The stream for kernels, and whether a kernel may start before the previous one has finished.
struct Queue {
  cudaStream_t stream;
  bool overlaps;
};

/// The size of a launch. `shared` is the number of bytes of dynamic shared memory.
struct LaunchSize {
  dim3 grid, block;
  size_t shared = 0;
};

template <class... Params, class... Args>
void launch(const char *name, void (*kernel)(Params...), const LaunchSize &size, const Queue &queue,
            const Args &...args) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = size.grid;
  config.blockDim = size.block;
  config.dynamicSmemBytes = size.shared;
  config.stream = queue.stream;
  config.attrs = &overlap;
  config.numAttrs = queue.overlaps ? 1 : 0;
  call(name, [&] { return cudaLaunchKernelEx(&config, kernel, args...); });
}

/// Waits for the previous kernel. Every thread of a kernel must call this, or exit, before it reads
/// data that another kernel may have written and before it writes. Code before the call, which
/// reads plan tables and parameters, overlaps with the previous kernel.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Calls `enqueue` with the caller's stream. If there is none, uses the per-thread default stream
/// and waits for it.
template <class Enqueue>
void queue_on(const CudaDevice &device, Stream stream, const Enqueue &enqueue) {
  if (stream.handle != nullptr) return enqueue(Queue{handle_of(stream), device.overlaps()});
  enqueue(Queue{cudaStreamPerThread, device.overlaps()});
  call("cudaStreamSynchronize", cudaStreamSynchronize, cudaStreamPerThread);
}

/// Computes at + count · bytes in one instruction. Compilers would recompute the offset for each
/// use.
template <class Byte>
__device__ __forceinline__ Byte *advance(Byte *at, uint32_t count, uint32_t bytes) {
  Byte *advanced;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(advanced) : "r"(count), "r"(bytes), "l"(at));
  return advanced;
}

/// The same for a step in either direction.
__device__ __forceinline__ const uint8_t *advance_signed(const uint8_t *at, int32_t count,
                                                         int32_t bytes) {
  const uint8_t *advanced;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(advanced) : "r"(count), "r"(bytes), "l"(at));
  return advanced;
}

/// Stores to global memory. The compiler does not know the address space of a pointer from
/// advance().
template <class Value>
__device__ __forceinline__ void store_global(Value *at, Value value) {
  if constexpr (sizeof(Value) == 1)
    asm volatile("st.global.u8 [%0], %1;" ::"l"(at),
                 "r"(static_cast<uint32_t>(bit_cast<uint8_t>(value)))
                 : "memory");
  else if constexpr (sizeof(Value) == 2)
    asm volatile("st.global.u16 [%0], %1;" ::"l"(at), "h"(bit_cast<uint16_t>(value)) : "memory");
  else if constexpr (sizeof(Value) == 4)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(bit_cast<uint32_t>(value)) : "memory");
  else if constexpr (sizeof(Value) == 8)
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(value.x), "r"(value.y)
                 : "memory");
  else
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(value.x), "r"(value.y),
                 "r"(value.z), "r"(value.w)
                 : "memory");
}

inline unsigned blocks_for(int64_t work, int64_t block) {
  return static_cast<unsigned>((work + block - 1) / block);
}

}  // namespace cudatensor::cuda
