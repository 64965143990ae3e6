// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// A pool for output buffers, which keep their geometry while they wait for their next frame: to
/// make one takes longer than all else that an element does for a frame. Whoever acquires a buffer
/// calls attach_geometry() or carry_geometry() for it.
GstBufferPool *new_tensor_pool();

}  // namespace cudatensor
