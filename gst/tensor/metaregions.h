// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions from the metas of a frame: GstVideoRegionOfInterestMeta and GstAnalyticsODMtd, or
// NvDsObjectMeta of DeepStream.
#pragma once

#include <gst/gst.h>

#include "gst/tensor/regions.h"

namespace cudatensor {

/// Appends the regions of a picture that the settings select: first the regions of interest, then the
/// detections. An object that the frame carries as both becomes one region. Counts those that no
/// matrix can show as left out.
void find_meta_regions(const RegionSettings &settings, const RegionMetas &metas,
                       const Source &source, const SlotShape &shape, FoundRegions &found);

}  // namespace cudatensor
