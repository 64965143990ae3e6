// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <optional>

namespace cudatensor {

/// An allocator of system memory that returns no memory where there is none: GStreamer's own ends
/// the process. Owned by the process.
GstAllocator *try_allocator();

/// Bytes of prefix, data and padding; nothing where they are more than can be counted.
std::optional<gsize> block_size(gsize size, const GstAllocationParams &params);

/// Writes zeros to the prefix and the padding of a block for `size` bytes, where the flags ask for it.
void zero_around(guint8 *block, gsize size, const GstAllocationParams &params);

}  // namespace cudatensor
