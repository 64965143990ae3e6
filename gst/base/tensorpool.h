// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// The alignment of all memory that elements allocate, minus one: a cache line, which is also the
/// widest vector register that the CPU kernels use.
constexpr gsize kTensorAlignMask = 63;

/// Returns a new pool for output buffers. Buffers keep their geometry meta when they return to the
/// pool, because creating one takes longer than everything else an element does per frame. The
/// caller of acquire_buffer() must call attach_geometry() or propagate_geometry() for each buffer.
GstBufferPool *new_tensor_pool();

}  // namespace cudatensor
