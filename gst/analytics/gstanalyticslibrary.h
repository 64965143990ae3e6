// SPDX-License-Identifier: LGPL-2.1-or-later
// libgstanalytics (gst-plugins-bad, since 1.24). It is loaded when the first buffer carries its
// meta; since 1.28, also when the first batch is made. One build of this plugin therefore works
// with every release since 1.22 and without the library.
//
// This file repeats the declarations that the plugin uses; tests/elements/gstanalyticsabi.cpp
// compares them with the library's headers.
#pragma once

#include <gst/gst.h>

namespace cudatensor::gstanalytics {

struct RelationMeta;  // GstAnalyticsRelationMeta, a GstMeta

/// GstAnalyticsMtd: one result, for example a detection. `id` is its index in the meta.
struct Mtd {
  guint id;
  RelationMeta *meta;
};

/// The public part of GstAnalyticsMtdImpl that every release has.
struct MtdImpl {
  const char *name;
  gboolean (*transform)(GstBuffer *to, Mtd *copy, GstBuffer *from, GQuark type, gpointer data);
};

/// GstAnalyticsMtdType: the address of the kind's MtdImpl; 0 = any.
using MtdType = guintptr;
/// GstAnalyticsRelTypes, a set of flags.
using Relation = guint;
/// GstAnalyticsKeypointDimensions: 2 or 3.
using KeypointDimensions = guint;

/// GstAnalyticsBatchStream and GstAnalyticsBatchMeta, since 1.28.
struct BatchStreamData {
  guint index;
  GstEvent **sticky_events;
  gsize n_sticky_events;
  GstMiniObject **objects;
  gsize n_objects;
  gpointer padding[GST_PADDING];
};
struct BatchMeta {
  GstMeta meta;
  BatchStreamData *streams;
  gsize n_streams;
};

/// The library's functions, named without the prefix gst_analytics_.
struct Library {
  RelationMeta *(*get_relation_meta)(GstBuffer *buffer);  // gst_buffer_get_analytics_relation_meta
  RelationMeta *(*add_relation_meta)(GstBuffer *buffer);  // gst_buffer_add_analytics_relation_meta

  gsize (*relation_get_length)(const RelationMeta *meta);
  Relation (*relation_meta_get_relation)(const RelationMeta *meta, guint first, guint second);
  gboolean (*relation_meta_set_relation)(RelationMeta *meta, Relation relation, guint first,
                                         guint second);
  gpointer (*relation_meta_add_mtd)(RelationMeta *meta, const MtdImpl *impl, gsize size, Mtd *mtd);
  gboolean (*relation_meta_get_mtd)(RelationMeta *meta, guint id, MtdType type, Mtd *mtd);
  gpointer (*relation_meta_get_mtd_data)(const RelationMeta *meta, guint id);
  MtdType (*mtd_get_mtd_type)(const Mtd *mtd);
  gsize (*mtd_get_size)(const Mtd *mtd);

  MtdType (*od_mtd_get_mtd_type)();
  GQuark (*od_mtd_get_obj_type)(const Mtd *mtd);
  gboolean (*od_mtd_get_location)(const Mtd *mtd, gint *x, gint *y, gint *width, gint *height,
                                  gfloat *confidence);
  gboolean (*relation_meta_add_od_mtd)(RelationMeta *meta, GQuark type, gint x, gint y, gint width,
                                       gint height, gfloat confidence, Mtd *mtd);
  gboolean (*relation_meta_add_cls_mtd)(RelationMeta *meta, gsize length, gfloat *confidences,
                                        GQuark *classes, Mtd *mtd);

  // Since 1.26; null in earlier versions.
  gboolean (*od_mtd_get_oriented_location)(const Mtd *mtd, gint *x, gint *y, gint *width,
                                           gint *height, gfloat *radians, gfloat *confidence);
  gboolean (*relation_meta_add_oriented_od_mtd)(RelationMeta *meta, GQuark type, gint x, gint y,
                                                gint width, gint height, gfloat radians,
                                                gfloat confidence, Mtd *mtd);
  MtdType (*segmentation_mtd_get_mtd_type)();
  GstBuffer *(*segmentation_mtd_get_mask)(const Mtd *mtd, gint *x, gint *y, guint *width,
                                          guint *height);

  // Since 1.28; null in earlier versions.
  BatchMeta *(*get_batch_meta)(GstBuffer *buffer);  // gst_buffer_get_analytics_batch_meta
  BatchMeta *(*add_batch_meta)(GstBuffer *buffer);  // gst_buffer_add_analytics_batch_meta

  // Since 1.30; null in earlier versions.
  gboolean (*mtd_set_semantic_tag)(Mtd *mtd, const gchar *tag);
  gchar *(*mtd_get_semantic_tag)(const Mtd *mtd);
  MtdType (*group_mtd_get_mtd_type)();
  gboolean (*group_mtd_get_member)(const Mtd *group, gsize index, Mtd *member);
  MtdType (*keypoint_mtd_get_mtd_type)();
  gboolean (*keypoint_mtd_get_position)(const Mtd *mtd, gint *x, gint *y, gint *z,
                                        KeypointDimensions *dimensions);
};

/// Loads the library on first use. Returns null if it is not installed or lacks a function.
const Library *library();

/// Returns the meta of a buffer; null if it has none. Does not load the library for buffers that
/// cannot have one.
RelationMeta *relation_meta_of(GstBuffer *buffer);

/// Returns the meta's API type; G_TYPE_INVALID as long as no code of this process has used the
/// meta.
GType relation_meta_api();

}  // namespace cudatensor::gstanalytics
