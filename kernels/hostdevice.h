// SPDX-License-Identifier: LGPL-2.1-or-later
// The only file that depends on the compiler. CUDATENSOR_HD marks arithmetic shared by CPU and GPU.
// CUDATENSOR_DEVICE_CODE is defined when compiling for the GPU, for the few operations that have a
// special GPU instruction.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__CUDA_ARCH__)
#define CUDATENSOR_DEVICE_CODE
#endif

#if defined(__CUDACC__)
#define CUDATENSOR_HD __host__ __device__ __forceinline__
#else
// Always inlined, so that the CPU row functions, which are compiled once per instruction set, never
// share an out-of-line copy.
#define CUDATENSOR_HD inline __attribute__((always_inline))
#endif
