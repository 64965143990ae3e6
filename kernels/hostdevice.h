// SPDX-License-Identifier: LGPL-2.1-or-later
// The only place that asks which compiler reads the headers: CUDATENSOR_HD marks the arithmetic
// that the CPU and the GPU run alike; CUDATENSOR_DEVICE_CODE is defined where it is compiled for the
// GPU, for the few steps that have an instruction of their own there.
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
// Always inlined, so that the CPU's drivers, which are compiled once per instruction set, never
// share one out-of-line copy.
#define CUDATENSOR_HD inline __attribute__((always_inline))
#endif
