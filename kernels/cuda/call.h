// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrapper for all CUDA calls, which checks their results and injects faults for tests.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/fault.h"

namespace cudatensor::cuda {

/// Throws Error with the name of the call, the CUDA error and a suggested remedy.
[[noreturn]] void fail(cudaError_t error, const char *call);

/// Calls `function(args...)`. Throws Error with `name` if it fails.
template <class Function, class... Args>
void call(const char *name, Function function, Args... args) {
  const auto injected = static_cast<cudaError_t>(next_fault());
  const cudaError_t error = injected != cudaSuccess ? injected : function(args...);
  if (error != cudaSuccess) fail(error, name);
}

}  // namespace cudatensor::cuda
