// SPDX-License-Identifier: LGPL-2.1-or-later
// Analytics results: functions that attach them to buffers and read them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "gst/analytics/gstanalyticslibrary.h"

namespace cudatensor {

/// Skips the test if GStreamer has no analytics metas.
#define SKIP_WITHOUT_ANALYTICS()                      \
  if (cudatensor::gstanalytics::library() == nullptr) \
  GTEST_SKIP() << "GStreamer is older than 1.24, or libgstanalytics is not installed"

struct Object {
  std::string type;
  int x, y, width, height;
  float confidence = 1.0F;
  float radians = 0.0F;
};

inline bool operator==(const Object &a, const Object &b) {
  return a.type == b.type && a.x == b.x && a.y == b.y && a.width == b.width &&
         a.height == b.height && a.confidence == b.confidence &&
         std::abs(a.radians - b.radians) < 1e-5F;
}
inline std::ostream &operator<<(std::ostream &to, const Object &o) {
  return to << o.type << ": " << o.width << 'x' << o.height << '+' << o.x << '+' << o.y << ", "
            << o.confidence << ", " << o.radians;
}

inline gstanalytics::RelationMeta *relations_of(GstBuffer *buffer) {
  return gstanalytics::library()->get_relation_meta(buffer);
}

/// Returns the object's id.
inline guint add_object(GstBuffer *buffer, const Object &o) {
  const auto &l = *gstanalytics::library();
  gstanalytics::RelationMeta *meta = l.add_relation_meta(buffer);
  const GQuark type = o.type.empty() ? 0 : g_quark_from_string(o.type.c_str());
  gstanalytics::Mtd added = {};
  const gboolean done =
      o.radians != 0.0F
          ? l.relation_meta_add_oriented_od_mtd(meta, type, o.x, o.y, o.width, o.height, o.radians,
                                                o.confidence, &added)
          : l.relation_meta_add_od_mtd(meta, type, o.x, o.y, o.width, o.height, o.confidence,
                                       &added);
  EXPECT_TRUE(done);
  return added.id;
}

/// Returns the objects in the order of their ids.
inline std::vector<Object> objects_of(GstBuffer *buffer) {
  const auto &l = *gstanalytics::library();
  gstanalytics::RelationMeta *meta = relations_of(buffer);
  std::vector<Object> found;
  const gsize count = meta != nullptr ? l.relation_get_length(meta) : 0;
  for (guint id = 0; id < count; ++id) {
    gstanalytics::Mtd mtd = {};
    if (!l.relation_meta_get_mtd(meta, id, l.od_mtd_get_mtd_type(), &mtd)) continue;
    const gchar *type = g_quark_to_string(l.od_mtd_get_obj_type(&mtd));
    Object o = {type != nullptr ? type : "", 0, 0, 0, 0};
    if (l.od_mtd_get_oriented_location != nullptr)
      EXPECT_TRUE(l.od_mtd_get_oriented_location(&mtd, &o.x, &o.y, &o.width, &o.height, &o.radians,
                                                 &o.confidence));
    else
      EXPECT_TRUE(l.od_mtd_get_location(&mtd, &o.x, &o.y, &o.width, &o.height, &o.confidence));
    found.push_back(o);
  }
  return found;
}

}  // namespace cudatensor
