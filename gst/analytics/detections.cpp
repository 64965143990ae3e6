// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/analytics/detections.h"

#include "gst/analytics/gstanalyticslibrary.h"

namespace cudatensor {

using namespace gstanalytics;

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
    if (l.od_mtd_get_location(&mtd, &box.x, &box.y, &box.width, &box.height, &each.confidence))
      found.push_back(each);
  }
  return found;
}

}  // namespace cudatensor
