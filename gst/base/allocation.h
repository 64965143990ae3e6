// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffer pools: what is offered upstream and what is made of downstream's offer.
#pragma once

#include <gst/video/video.h>

#include "gst/base/session.h"

namespace cudatensor {

/// Offers a pool for the query's caps, and GstVideoMeta for pictures; tensors have `size` bytes.
/// The GPU is offered its own memory, or for caps of system memory pinned memory.
void propose_pool(GstQuery *query, gsize size, Session &session);

/// Leaves one configured pool in the query, or none where buffers are too large for any. For
/// pictures downstream's pool is taken, and GstVideoMeta where downstream knows it; in CUDAMemory
/// only a pool of the session's context. For tensors downstream's pool is taken only in system
/// memory, and where its buffers have exactly `size` bytes. Where none can be configured either,
/// the query's allocator is left to say why.
void decide_pool(GstQuery *query, gsize size, Session &session);

/// Throws the Error that kept a buffer of `size` bytes from being allocated; `allocator` may be null.
[[noreturn]] void fail_to_allocate(gsize size, Session &session, GstAllocator *allocator);

}  // namespace cudatensor
