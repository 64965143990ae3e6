// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/analytics/detections.h"

#include "gst/analytics/gstanalyticslibrary.h"

namespace cudatensor {

using namespace gstanalytics;

namespace {

/// Returns the box of an object that is turned. Releases before 1.26 have no such objects.
std::optional<TurnedBox> turned_box_of(const Library &l, const Mtd &mtd) {
  if (l.od_mtd_get_oriented_location == nullptr) return std::nullopt;
  TurnedBox turned = {};
  auto &[box, radians] = turned;
  gfloat confidence = 0.0F;
  const bool found = l.od_mtd_get_oriented_location(&mtd, &box.x, &box.y, &box.width, &box.height,
                                                    &radians, &confidence);
  return found && radians != 0.0F ? std::optional<TurnedBox>(turned) : std::nullopt;
}

}  // namespace

std::vector<Detection> detections_of(GstBuffer *buffer) {
  std::vector<Detection> found;
  RelationMeta *meta = relation_meta_of(buffer);
  if (meta == nullptr) return found;
  const Library &l = *library();
  const guint count = static_cast<guint>(l.relation_get_length(meta));
  for (guint id = 0; id < count; ++id) {
    Mtd mtd = {};
    if (!l.relation_meta_get_mtd(meta, id, l.od_mtd_get_mtd_type(), &mtd)) continue;
    Detection each = {id, l.od_mtd_get_obj_type(&mtd), {}, 0.0F};
    Box &box = each.box;
    if (!l.od_mtd_get_location(&mtd, &box.x, &box.y, &box.width, &box.height, &each.confidence))
      continue;
    each.turned = turned_box_of(l, mtd);
    found.push_back(each);
  }
  return found;
}

}  // namespace cudatensor
