// SPDX-License-Identifier: LGPL-2.1-or-later
// The points of a region of interest, such as the landmarks of a face: the parameter `points` of
// GstVideoRegionOfInterestMeta, with `x` and `y` (GST_TYPE_ARRAY of doubles, pixels, with samples at
// whole numbers).
#pragma once

#include <gst/video/video.h>

#include <vector>

#include "gst/util/boxmap.h"

namespace cudatensor {

/// Returns the points of the first parameter that has `count` of them; otherwise none.
std::vector<Point> points_of(const GstVideoRegionOfInterestMeta &roi, size_t count);

/// Returns a copy of a parameter, in which points are mapped.
GstStructure *map_parameter(const GstStructure *parameter, const BoxMap &map);

}  // namespace cudatensor
