// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/objectplaces.h"

#include <algorithm>

#include "gst/meta/detectionsmeta.h"
#include "kernels/objects.h"

namespace cudatensor {
namespace {

/// Returns the box in whole pixels of the picture, as cudadetections rounds it.
std::optional<Rect> rounded(const DetectedObject &object, const BoxMap &map) {
  std::array<float, 4> box = {};
  std::transform(object.box.begin(), object.box.end(), box.begin(),
                 [](double side) { return static_cast<float>(side); });
  return pixels_of(box, map.in_width, map.in_height);
}

std::optional<Box> place_of(const DetectedObject &object, const BoxMap &map) {
  const auto &[x0, y0, x1, y1] = object.box;
  return map_region_clipped(map, {x0, y0, x1 - x0, y1 - y0}, Rounding::nearest);
}

}  // namespace

ObjectPlaces::ObjectPlaces(GstBuffer *picture, const BoxMap &map) {
  for (const DetectedObject &object : detected_objects_of(picture)) {
    const auto there = place_of(object, map);
    if (!there || object.slot != 0) continue;
    const auto here = rounded(object, map);
    if (here)
      places_.push_back({type_of(object.label, object.class_id),
                         {here->x, here->y, here->width, here->height},
                         *there,
                         false});
    else
      small_.push_back({*there, object.label, object.class_id, object.confidence});
  }
}

std::optional<Box> ObjectPlaces::take(GQuark type, const Box &box) {
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const Place &each) {
    return !each.is_taken && each.type == type && each.here == box;
  });
  if (found == places_.end()) return std::nullopt;
  found->is_taken = true;
  return found->there;
}

}  // namespace cudatensor
