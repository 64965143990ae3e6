// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of a picture that become slots of a batch.
#pragma once

#include <gst/video/video.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "gst/analytics/detections.h"
#include "kernels/geometry.h"

namespace cudatensor {

/// Returns the rectangle of a region of interest. Its coordinates are unsigned; those left of or
/// above the picture have wrapped around.
inline Box box_of(const GstVideoRegionOfInterestMeta &roi) {
  return {static_cast<int>(roi.x), static_cast<int>(roi.y), static_cast<int>(roi.w),
          static_cast<int>(roi.h)};
}

/// The fields of a GstVideoRegionOfInterestMeta besides its rectangle.
struct Roi {
  std::string type;  ///< empty if the meta has none
  gint id, parent_id;
};

/// A region that is assigned a slot.
struct FoundRegion {
  Region region;  ///< in pixels of the stored picture; clipped to the picture with region-edge=clip
  std::optional<Roi> interest;
  std::optional<Detection> detection;  ///< set if the region is a detection of an analytics meta
  bool is_invalid = false;             ///< the picture cannot provide it: its slot stays empty
  Region turned = {};                  ///< `region` in coordinates of the seen picture
  /// Makes the slot in place of a region, which is then known only with the geometry.
  std::optional<Matrix> matrix = {};
};

struct FoundRegions {
  std::vector<FoundRegion> regions;  ///< in the order of their slots
  guint left_out = 0;                ///< number of metas that have no slot
  bool is_whole = false;  ///< no regions were requested: the only one is the whole picture
  std::string reason;     ///< why a region is not valid; empty if all are

  /// Returns to no regions, and keeps the memory.
  void clear() {
    regions.clear();
    left_out = 0;
    is_whole = false;
    reason.clear();
  }
  /// Whether no slot is valid.
  bool show_nothing() const {
    return std::all_of(regions.begin(), regions.end(),
                       [](const FoundRegion &each) { return each.is_invalid; });
  }
};

}  // namespace cudatensor
