// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/device.h"

namespace cudatensor::cuda {

/// Whether this thread is inside a ContextIsGone.
bool is_context_gone();

/// Has the end of the process wait for threads that are in a ContextScope, and keep others out. To be
/// called after the runtime has begun, whose own handlers then run later.
void close_at_exit();

/// Event::record_context() for an event of the runtime's.
bool record_current_context(cudaEvent_t event);

}  // namespace cudatensor::cuda
