// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Whether the running GStreamer is release 1.`minor` or later. It may be newer than the one that
/// this code was built with.
inline bool is_at_least_1(guint minor) {
  guint major = 0, running = 0, micro = 0, nano = 0;
  gst_version(&major, &running, &micro, &nano);
  return major > 1 || running >= minor;
}

}  // namespace cudatensor
