// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces the CUDA backend in builds without it.
#include "kernels/error.h"
#include "kernels/ops.h"

namespace cudatensor {

bool cuda_is_built() { return false; }

int count_cuda_devices() { throw Error(Error::Code::not_found, "this build has no CUDA backend"); }

void check_cuda_device(int) { count_cuda_devices(); }

ContextScope::ContextScope(void *) { count_cuda_devices(); }
ContextScope::~ContextScope() = default;

void *primary_context(int) {
  count_cuda_devices();
  return nullptr;
}

ContextLostScope::ContextLostScope() = default;
ContextLostScope::~ContextLostScope() = default;

std::unique_ptr<Device> open_cuda_device() {
  count_cuda_devices();
  return nullptr;
}

std::unique_ptr<Backend> open_cuda_backend() {
  count_cuda_devices();
  return nullptr;
}

}  // namespace cudatensor
