// SPDX-License-Identifier: LGPL-2.1-or-later
// The detections that a buffer carries as GstAnalyticsODMtd.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/util/boxmap.h"

namespace cudatensor {

struct Detection {
  guint id;  ///< in the metadata that it comes from
  GQuark type;
  Box box;  ///< in pixels; of an oriented object, its bounding box
  float confidence;
};

/// In the order of their ids. Empty where GStreamer is older than 1.24.
std::vector<Detection> detections_of(GstBuffer *buffer);

}  // namespace cudatensor
