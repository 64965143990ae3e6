// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/backendof.h"
#include "kernels/cpu/operations.h"

namespace cudatensor {

std::unique_ptr<Backend> open_cpu_backend(unsigned threads) {
  return std::make_unique<BackendOf<cpu::Workers>>(threads);
}

}  // namespace cudatensor
