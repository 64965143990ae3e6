// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of a picture that become slots of a batch.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/geometry.h"

namespace cudatensor {

/// The fields of a GstVideoRegionOfInterestMeta besides its rectangle.
struct Roi {
  std::string type;  ///< empty if the meta has none
  gint id, parent_id;
};

/// A region that is assigned a slot.
struct FoundRegion {
  Region region;  ///< in pixels; clipped to the picture with region-edge=clip
  std::optional<Roi> interest;
};

struct FoundRegions {
  std::vector<FoundRegion> regions;  ///< in the order of their slots
  guint left_out = 0;                ///< number of metas that did not fit into the batch
  bool is_whole = false;  ///< no regions were requested: the only one is the whole picture
};

}  // namespace cudatensor
