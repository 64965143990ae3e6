// SPDX-License-Identifier: LGPL-2.1-or-later
// Every call to CUDA goes through here: checked once, and made to fail where a test asks for it.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/fault.h"

namespace cudatensor::cuda {

/// Throws Error with the call, the CUDA error and what to do about it.
[[noreturn]] void fail(cudaError_t error, const char *call);

/// `function(args...)`, which is named `name` where it fails.
template <class Function, class... Args>
void call(const char *name, Function function, Args... args) {
  const auto injected = static_cast<cudaError_t>(next_fault());
  const cudaError_t error = injected != cudaSuccess ? injected : function(args...);
  if (error != cudaSuccess) fail(error, name);
}

}  // namespace cudatensor::cuda
