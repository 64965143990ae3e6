// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/cuda/gstcudalibrary.h"
#include "gst/util/ref.h"

namespace cudatensor::gstcuda {

/// Returns a context of libgstcuda for a device's primary context. All callers get the same one
/// while it is in use, so that pipelines can use each other's memory. The library must be loaded.
/// Throws Error.
Ref<Context> shared_primary_context(int device);

}  // namespace cudatensor::gstcuda
