// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/analytics/gstanalyticslibrary.h"

#include <gst/video/video.h>

#include "config.h"
#include "gst/util/gstreamerfunctions.h"
#include "gst/util/log.h"

namespace cudatensor::gstanalytics {
namespace {

constexpr const char *kName = "libgstanalytics-1.0" GST_LIBRARY_SUFFIX ".so.0";

bool find_common(GModule *m, Library &l) {
  return find_of_gstreamer(m, "gst_buffer_get_analytics_relation_meta", l.get_relation_meta) &&
         find_of_gstreamer(m, "gst_buffer_add_analytics_relation_meta", l.add_relation_meta) &&
         find_of_gstreamer(m, "gst_analytics_relation_get_length", l.relation_get_length) &&
         find_of_gstreamer(m, "gst_analytics_relation_meta_get_relation",
                           l.relation_meta_get_relation) &&
         find_of_gstreamer(m, "gst_analytics_relation_meta_set_relation",
                           l.relation_meta_set_relation) &&
         find_of_gstreamer(m, "gst_analytics_relation_meta_add_mtd", l.relation_meta_add_mtd) &&
         find_of_gstreamer(m, "gst_analytics_relation_meta_get_mtd", l.relation_meta_get_mtd) &&
         find_of_gstreamer(m, "gst_analytics_relation_meta_get_mtd_data",
                           l.relation_meta_get_mtd_data) &&
         find_of_gstreamer(m, "gst_analytics_mtd_get_mtd_type", l.mtd_get_mtd_type) &&
         find_of_gstreamer(m, "gst_analytics_mtd_get_size", l.mtd_get_size) &&
         find_of_gstreamer(m, "gst_analytics_od_mtd_get_mtd_type", l.od_mtd_get_mtd_type) &&
         find_of_gstreamer(m, "gst_analytics_od_mtd_get_obj_type", l.od_mtd_get_obj_type) &&
         find_of_gstreamer(m, "gst_analytics_od_mtd_get_location", l.od_mtd_get_location) &&
         find_of_gstreamer(m, "gst_analytics_relation_meta_add_od_mtd",
                           l.relation_meta_add_od_mtd) &&
         find_of_gstreamer(m, "gst_analytics_relation_meta_add_cls_mtd",
                           l.relation_meta_add_cls_mtd);
}

/// Looks up two functions. Both are null in a release that lacks one of them.
template <class First, class Second>
void find_pair(GModule *m, const char *first_name, First &first, const char *second_name,
               Second &second) {
  if (find_of_gstreamer(m, first_name, first) && find_of_gstreamer(m, second_name, second)) return;
  first = nullptr;
  second = nullptr;
}

void find_by_release(GModule *m, Library &l) {
  find_pair(m, "gst_analytics_od_mtd_get_oriented_location", l.od_mtd_get_oriented_location,
            "gst_analytics_relation_meta_add_oriented_od_mtd", l.relation_meta_add_oriented_od_mtd);
  find_pair(m, "gst_analytics_segmentation_mtd_get_mtd_type", l.segmentation_mtd_get_mtd_type,
            "gst_analytics_segmentation_mtd_get_mask", l.segmentation_mtd_get_mask);
  find_pair(m, "gst_buffer_get_analytics_batch_meta", l.get_batch_meta,
            "gst_buffer_add_analytics_batch_meta", l.add_batch_meta);
  find_pair(m, "gst_analytics_mtd_set_semantic_tag", l.mtd_set_semantic_tag,
            "gst_analytics_mtd_get_semantic_tag", l.mtd_get_semantic_tag);
  find_pair(m, "gst_analytics_group_mtd_get_mtd_type", l.group_mtd_get_mtd_type,
            "gst_analytics_group_mtd_get_member", l.group_mtd_get_member);
  find_pair(m, "gst_analytics_keypoint_mtd_get_mtd_type", l.keypoint_mtd_get_mtd_type,
            "gst_analytics_keypoint_mtd_get_position", l.keypoint_mtd_get_position);
}

const Library *open_library() {
  GModule *module = g_module_open(kName, G_MODULE_BIND_LAZY);
  if (module == nullptr) {
    GST_INFO("no analytics metas: %s", g_module_error());
    return nullptr;
  }
  // The module registers GTypes and must stay loaded.
  g_module_make_resident(module);
  static Library library = {};
  if (!find_common(module, library)) {
    GST_WARNING("no analytics metas: %s", g_module_error());
    return nullptr;
  }
  find_by_release(module, library);
  return &library;
}

/// Returns whether a buffer has other metas than that of a picture's layout. Most have not, and
/// looking up a type by its name takes longer.
bool has_other_metas(GstBuffer *buffer) {
  gpointer state = nullptr;
  while (const GstMeta *meta = gst_buffer_iterate_meta(buffer, &state))
    if (meta->info->api != GST_VIDEO_META_API_TYPE) return true;
  return false;
}

}  // namespace

const Library *library() {
  static const Library *const library = open_library();
  return library;
}

GType relation_meta_api() { return g_type_from_name("GstAnalyticsRelationMetaAPI"); }

RelationMeta *relation_meta_of(GstBuffer *buffer) {
  if (!has_other_metas(buffer)) return nullptr;
  const GType api = relation_meta_api();
  if (api == G_TYPE_INVALID || gst_buffer_get_meta(buffer, api) == nullptr) return nullptr;
  return library() != nullptr ? library()->get_relation_meta(buffer) : nullptr;
}

}  // namespace cudatensor::gstanalytics
