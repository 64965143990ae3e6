// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of GStreamer, as the monitor takes them.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "watch/measurement.h"

namespace luminance {

struct Frame {
  Measurement measurement;           // without its time
  std::optional<Time> running_time;  // unknown: the frame has no timestamp
  GstClockTime timestamp;            // of its buffer
};

/// What a message says of a frame; empty where it is none of cudahistogram, or lacks fields.
std::optional<Frame> frame_of(GstMessage *message);

}  // namespace luminance
