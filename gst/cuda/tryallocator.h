// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <optional>

namespace cudatensor {

/// Returns an allocator of system memory that returns null if memory is exhausted, whereas
/// GStreamer's own aborts the process. It exists for the lifetime of the process.
GstAllocator *try_allocator();

/// Returns the total size of prefix, data and padding; no value if it overflows.
std::optional<gsize> block_size(gsize size, const GstAllocationParams &params);

/// Writes zeros to the prefix and the padding of a block for `size` bytes, if the flags ask for it.
void zero_around(guint8 *block, gsize size, const GstAllocationParams &params);

}  // namespace cudatensor
