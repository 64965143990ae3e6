// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies a GstAnalyticsRelationMeta, with its boxes mapped, to a buffer with another picture.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <optional>
#include <vector>

#include "gst/util/boxmap.h"

namespace cudatensor {

/// The ids of one result in the metas of two buffers.
struct SameResult {
  guint from, to;
};

/// Returns the pairs with `from` and `to` exchanged.
std::vector<SameResult> inverse_of(const std::vector<SameResult> &results);

/// Returns the place in the target of an object of this type and box in the source, if it is known
/// better than from the box. Called for the objects in the order of their ids.
using PlaceOf = std::function<std::optional<Box>(GQuark type, const Box &box)>;

/// Copies the results that `from` carries to the meta of `to`, with their relations. Boxes are
/// rounded to the nearest pixel; detections are clipped to the picture and left out if they are
/// outside. Oriented objects and masks are not clipped, since that would displace them.
///
/// `same` are results of `from` that `to` already has. They are not copied, but relations to them
/// are. Returns the ids of the copied results.
std::vector<SameResult> carry_relations(GstBuffer *from, GstBuffer *to, const BoxMap &map,
                                        const std::vector<SameResult> &same = {},
                                        const PlaceOf &place = {});

}  // namespace cudatensor
