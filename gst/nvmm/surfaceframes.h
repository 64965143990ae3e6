// SPDX-License-Identifier: LGPL-2.1-or-later
// The metadata that nvstreammux and the elements behind it attach to the frames in a batch of
// surfaces.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "gst/analytics/detections.h"

namespace cudatensor::nvmm {

struct SurfaceFrame {
  int pad_index;  ///< pad of nvstreammux
  guint source_id;
  GstClockTime pts;
  int width, height;  ///< before nvstreammux, which may have scaled the frame
  /// Detections in pixels of the surface. The id of a detection is its index in the list.
  std::vector<Detection> objects;
};

/// Returns the frames of the first `count` surfaces; no value for a surface without metadata.
std::vector<std::optional<SurfaceFrame>> frames_of(GstBuffer *buffer, size_t count);

}  // namespace cudatensor::nvmm
