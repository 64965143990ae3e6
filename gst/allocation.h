// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffer pools: what is offered upstream and what is made of downstream's offer.
#pragma once

#include <gst/video/video.h>

namespace cudatensor {

/// Offers a pool for the query's caps, and GstVideoMeta for pictures; tensors have `size` bytes.
void propose_pool(GstQuery *query, gsize size);

/// Leaves one configured pool in the query, or none where buffers are too large for any. For
/// pictures downstream's pool is taken, and GstVideoMeta where downstream knows it. For tensors
/// downstream's pool is taken only where its buffers have exactly `size` bytes. False where no pool
/// could be configured.
bool decide_pool(GstQuery *query, gsize size);

}  // namespace cudatensor
