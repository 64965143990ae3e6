// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/device.h"

namespace cudatensor::cuda {

/// Whether the calling thread is in a ContextLostScope.
bool is_context_lost();

/// Registers an exit handler that waits for threads in a ContextScope and blocks new scopes. Must
/// be called after the CUDA runtime is initialized, so that it runs before the runtime's own exit
/// handlers.
void register_exit_handler();

/// Implements Event::record_context() for a runtime event.
bool record_current_context(cudaEvent_t event);

}  // namespace cudatensor::cuda
