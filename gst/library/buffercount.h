// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts buffers, so that a program that waits for a frame can tell a slow pipeline from one that
// hangs.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Returns how many buffers have left elements of the bin, modulo 2³², since the first call, which
/// returns 0. Calls for a bin must not overlap.
guint count_buffers(GstElement *bin);

}  // namespace cudatensor
