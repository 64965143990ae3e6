// SPDX-License-Identifier: LGPL-2.1-or-later
// The detections that a buffer carries as GstAnalyticsODMtd.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "gst/util/boxmap.h"

namespace cudatensor {

struct Detection {
  guint id;  ///< id in the metadata that it comes from
  GQuark type;
  Box box;  ///< in pixels; for an oriented object, its bounding box
  float confidence;
  std::optional<TurnedBox> turned = {};  ///< set if the object is oriented
};

/// Returns the detections in the order of their ids. Returns none if GStreamer is older than 1.24.
std::vector<Detection> detections_of(GstBuffer *buffer);

}  // namespace cudatensor
