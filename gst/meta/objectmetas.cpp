// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/objectmetas.h"

#include <gst/video/video.h>

#include "gst/analytics/gstanalyticslibrary.h"

namespace cudatensor {
namespace {

using gstanalytics::Mtd;
using gstanalytics::RelationMeta;

constexpr int kMostQuarks = 1 << 16;

GQuark quark_of(const ObjectMeta &object) { return type_of(object.label, object.class_id); }

void add_region(GstBuffer *buffer, const ObjectMeta &object) {
  const Box &box = object.box;
  auto *meta = gst_buffer_add_video_region_of_interest_meta_id(
      buffer, quark_of(object), static_cast<guint>(box.x), static_cast<guint>(box.y),
      static_cast<guint>(box.width), static_cast<guint>(box.height));
  gst_video_region_of_interest_meta_add_param(
      meta, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, object.confidence,
                              "label_id", G_TYPE_INT, object.class_id, nullptr));
}

/// Returns the meta of a buffer, which is added if it is missing; null before 1.24.
RelationMeta *relations_of(GstBuffer *buffer) {
  const gstanalytics::Library *l = gstanalytics::library();
  if (l == nullptr) return nullptr;
  RelationMeta *meta = l->get_relation_meta(buffer);
  return meta != nullptr ? meta : l->add_relation_meta(buffer);
}

}  // namespace

GQuark type_of(const std::string &label, int class_id) {
  const bool is_known = class_id >= 0 && class_id < kMostQuarks;
  return g_quark_from_string(is_known ? label.c_str() : "object");
}

void add_object_metas(GstBuffer *buffer, const std::vector<ObjectMeta> &objects) {
  if (objects.empty()) return;
  for (const ObjectMeta &each : objects) add_region(buffer, each);
  RelationMeta *meta = relations_of(buffer);
  if (meta == nullptr) return;
  for (const ObjectMeta &each : objects) {
    const Box &b = each.box;
    Mtd added = {};
    gstanalytics::library()->relation_meta_add_od_mtd(meta, quark_of(each), b.x, b.y, b.width,
                                                      b.height,
                                                      static_cast<gfloat>(each.confidence), &added);
  }
}

void add_class_metas(GstBuffer *buffer, const std::vector<ObjectMeta> &classes) {
  if (classes.empty()) return;
  std::vector<gfloat> confidences;
  std::vector<GQuark> quarks;
  for (const ObjectMeta &each : classes) {
    add_region(buffer, each);
    confidences.push_back(static_cast<gfloat>(each.confidence));
    quarks.push_back(quark_of(each));
  }
  RelationMeta *meta = relations_of(buffer);
  if (meta == nullptr) return;
  Mtd added = {};
  gstanalytics::library()->relation_meta_add_cls_mtd(meta, classes.size(), confidences.data(),
                                                     quarks.data(), &added);
}

}  // namespace cudatensor
