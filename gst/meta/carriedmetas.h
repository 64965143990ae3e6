// SPDX-License-Identifier: LGPL-2.1-or-later
// Mapping of regions of interest, crops, analytics results and kept inputs to the output of
// elements that scale or crop pictures.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/analytics/relations.h"
#include "gst/util/boxmap.h"

namespace cudatensor {

/// Maps the metas of `in` to `out`. Regions of interest and the crop are rounded outwards,
/// detections to the nearest pixel; both are clipped to the picture, and dropped if they are
/// outside. Returns the copied analytics results.
std::vector<SameResult> carry_metas(GstBuffer *in, GstBuffer *out, const BoxMap &map);

/// Maps the regions of interest and analytics results that were found in `picture` back to the
/// `frame` that it shows, rounded to the nearest pixel. `map` maps the frame to the picture. The
/// boxes of objects in the detections meta are rounded only once. Skips
/// what the frame already has: the analytics results `same`, and regions of interest that were
/// mapped from it to the picture.
void carry_back(GstBuffer *picture, GstBuffer *frame, const BoxMap &map,
                const std::vector<SameResult> &same);

/// Whether carry_metas() handles this meta.
bool is_carried_meta(GType api);

}  // namespace cudatensor
