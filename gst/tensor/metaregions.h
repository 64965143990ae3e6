// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions from the metas of a frame: GstVideoRegionOfInterestMeta and GstAnalyticsODMtd, or
// NvDsObjectMeta of DeepStream.
#pragma once

#include <gst/gst.h>

#include "gst/tensor/regions.h"

namespace cudatensor {

/// Appends the regions of a picture of width × height pixels that the settings select: first the
/// regions of interest, then the detections. An object that the frame carries as both becomes one
/// region.
void find_meta_regions(const RegionSettings &settings, const RegionMetas &metas, int width,
                       int height, FoundRegions &found);

}  // namespace cudatensor
