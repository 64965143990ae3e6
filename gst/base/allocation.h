// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffer pools: the pool offered to upstream, and the pool chosen from downstream's offers.
#pragma once

#include <gst/video/video.h>

#include "gst/device/devicesession.h"

namespace cudatensor {

/// Adds a pool for the query's caps, and GstVideoMeta support for pictures. Tensor buffers have
/// `size` bytes. A CUDA session offers CUDAMemory, or pinned memory if the caps ask for system
/// memory. No pool is offered for NVMM.
void propose_pool(GstQuery *query, gsize size, Session &session);

/// Leaves one configured pool in the query, or none if the buffers are too large for a pool. For
/// pictures it uses downstream's pool, and GstVideoMeta if downstream supports it; a pool of
/// CUDAMemory must belong to the session's context. For tensors it uses downstream's pool only in
/// system memory and only if its buffers have exactly `size` bytes. If no pool can be configured,
/// the query keeps only the allocator, which reports the cause.
/// A pool must have room for the `held` buffers that the element keeps, too.
void decide_pool(GstQuery *query, gsize size, Session &session, guint held = 0);

/// Throws the Error that explains why a buffer of `size` bytes could not be allocated. `allocator`
/// may be null.
[[noreturn]] void throw_allocation_error(gsize size, Session &session, GstAllocator *allocator);

}  // namespace cudatensor
