// SPDX-License-Identifier: LGPL-2.1-or-later
// What nvstreammux and the elements behind it say of the frames in a batch of surfaces.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "gst/analytics/detections.h"

namespace cudatensor::nvmm {

struct SurfaceFrame {
  int pad_index;  ///< of nvstreammux
  guint source_id;
  GstClockTime pts;
  int width, height;  ///< before nvstreammux, which may have scaled the frame
  /// In pixels of the surface. An object's id is its place in the list.
  std::vector<Detection> objects;
};

/// The frames of the first `count` surfaces; no value where the buffer has no metadata for one.
std::vector<std::optional<SurfaceFrame>> frames_of(GstBuffer *buffer, size_t count);

}  // namespace cudatensor::nvmm
