// SPDX-License-Identifier: LGPL-2.1-or-later
// A part of a picture that becomes a slot of a batch.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/geometry.h"

namespace cudatensor {

/// What a GstVideoRegionOfInterestMeta says besides its region.
struct Interest {
  std::string type;  ///< empty where it has none
  gint id, parent_id;
};

/// A region that has a slot.
struct FoundRegion {
  Region region;  ///< pixels; clipped where that was asked for
  std::optional<Interest> interest;
};

struct FoundRegions {
  std::vector<FoundRegion> regions;  ///< in the order of their slots
  guint left_out = 0;                ///< metas' regions for which there was no slot
  bool is_whole = false;  ///< no regions were asked for: there is one, of all the picture
};

}  // namespace cudatensor
