// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/backendof.h"
#include "kernels/cuda/context.h"
#include "kernels/cuda/operations.h"

namespace cudatensor {
namespace {

class CudaBackend final : public BackendOf<cuda::CudaDevice> {
 public:
  explicit CudaBackend(bool overlaps) : BackendOf(overlaps) {}
  Device *device() override { return &context(); }
};

}  // namespace

std::unique_ptr<Backend> open_cuda_backend() {
  count_cuda_devices();
  const bool overlaps = cuda::check_code();
  cuda::register_exit_handler();
  return std::make_unique<CudaBackend>(overlaps);
}

}  // namespace cudatensor
