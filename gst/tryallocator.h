// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// An allocator of system memory that returns no memory where there is none: GStreamer's own ends
/// the process. Owned by the process.
GstAllocator *try_allocator();

}  // namespace cudatensor
