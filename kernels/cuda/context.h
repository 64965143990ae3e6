// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernels/device.h"

namespace cudatensor::cuda {

/// Whether this thread is inside a ContextIsGone.
bool is_context_gone();

}  // namespace cudatensor::cuda
