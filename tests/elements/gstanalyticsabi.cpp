// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that gst/analytics/gstanalyticslibrary.h declares the same as the headers of
// libgstanalytics that this file is compiled with. The compiler checks everything here.
#include <gst/analytics/analytics.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "gst/analytics/gstanalyticslibrary.h"
#include "gst/util/videomatrix.h"

namespace cudatensor::gstanalytics {
namespace {

/// Maps a type of their headers to ours.
template <class T>
struct Ours {
  using type = T;
};
template <class T>
using OursOf = typename Ours<T>::type;
template <class T>
struct Ours<const T> {
  using type = const OursOf<T>;
};
template <class T>
struct Ours<T *> {
  using type = OursOf<T> *;
};
template <>
struct Ours<GstAnalyticsRelationMeta> {
  using type = RelationMeta;
};
template <>
struct Ours<GstAnalyticsMtd> {
  using type = Mtd;
};
template <>
struct Ours<GstAnalyticsMtdImpl> {
  using type = MtdImpl;
};
template <>
struct Ours<GstAnalyticsRelTypes> {
  using type = Relation;
};
#if GST_CHECK_VERSION(1, 28, 0)
template <>
struct Ours<GstAnalyticsBatchMeta> {
  using type = BatchMeta;
};
#endif
#if GST_CHECK_VERSION(1, 29, 90)
template <>
struct Ours<GstAnalyticsKeypointDimensions> {
  using type = KeypointDimensions;
};
#endif
template <class Result, class... Args>
struct Ours<Result(Args...)> {
  using type = OursOf<Result>(OursOf<Args>...);
};

/// True if a function of their headers has the type that a member of Library points to.
template <class Member, class Function>
constexpr bool is_same(Member Library::*, Function *) {
  return std::is_same_v<Member, OursOf<Function> *>;
}

static_assert(is_same(&Library::get_relation_meta, gst_buffer_get_analytics_relation_meta));
static_assert(is_same(&Library::add_relation_meta, gst_buffer_add_analytics_relation_meta));
static_assert(is_same(&Library::relation_get_length, gst_analytics_relation_get_length));
static_assert(is_same(&Library::relation_meta_get_relation,
                      gst_analytics_relation_meta_get_relation));
static_assert(is_same(&Library::relation_meta_set_relation,
                      gst_analytics_relation_meta_set_relation));
static_assert(is_same(&Library::relation_meta_add_mtd, gst_analytics_relation_meta_add_mtd));
static_assert(is_same(&Library::relation_meta_get_mtd, gst_analytics_relation_meta_get_mtd));
static_assert(is_same(&Library::relation_meta_get_mtd_data,
                      gst_analytics_relation_meta_get_mtd_data));
static_assert(is_same(&Library::mtd_get_mtd_type, gst_analytics_mtd_get_mtd_type));
static_assert(is_same(&Library::mtd_get_size, gst_analytics_mtd_get_size));
static_assert(is_same(&Library::od_mtd_get_mtd_type, gst_analytics_od_mtd_get_mtd_type));
static_assert(is_same(&Library::od_mtd_get_obj_type, gst_analytics_od_mtd_get_obj_type));
static_assert(is_same(&Library::od_mtd_get_location, gst_analytics_od_mtd_get_location));
static_assert(is_same(&Library::relation_meta_add_od_mtd, gst_analytics_relation_meta_add_od_mtd));
static_assert(is_same(&Library::relation_meta_add_cls_mtd,
                      gst_analytics_relation_meta_add_cls_mtd));
#if GST_CHECK_VERSION(1, 26, 0)
static_assert(is_same(&Library::od_mtd_get_oriented_location,
                      gst_analytics_od_mtd_get_oriented_location));
static_assert(is_same(&Library::relation_meta_add_oriented_od_mtd,
                      gst_analytics_relation_meta_add_oriented_od_mtd));
static_assert(is_same(&Library::segmentation_mtd_get_mtd_type,
                      gst_analytics_segmentation_mtd_get_mtd_type));
static_assert(is_same(&Library::segmentation_mtd_get_mask,
                      gst_analytics_segmentation_mtd_get_mask));
#endif
#if GST_CHECK_VERSION(1, 28, 0)
static_assert(is_same(&Library::get_batch_meta, gst_buffer_get_analytics_batch_meta));
static_assert(is_same(&Library::add_batch_meta, gst_buffer_add_analytics_batch_meta));

static_assert(sizeof(BatchStreamData) == sizeof(GstAnalyticsBatchStream));
static_assert(offsetof(BatchStreamData, index) == offsetof(GstAnalyticsBatchStream, index));
static_assert(offsetof(BatchStreamData, sticky_events) ==
              offsetof(GstAnalyticsBatchStream, sticky_events));
static_assert(offsetof(BatchStreamData, n_sticky_events) ==
              offsetof(GstAnalyticsBatchStream, n_sticky_events));
static_assert(offsetof(BatchStreamData, objects) == offsetof(GstAnalyticsBatchStream, objects));
static_assert(offsetof(BatchStreamData, n_objects) == offsetof(GstAnalyticsBatchStream, n_objects));
static_assert(sizeof(BatchMeta) == sizeof(GstAnalyticsBatchMeta));
static_assert(offsetof(BatchMeta, streams) == offsetof(GstAnalyticsBatchMeta, streams));
static_assert(offsetof(BatchMeta, n_streams) == offsetof(GstAnalyticsBatchMeta, n_streams));
#endif
#if GST_CHECK_VERSION(1, 29, 2)
static_assert(is_same(&Library::mtd_set_semantic_tag, gst_analytics_mtd_set_semantic_tag));
static_assert(is_same(&Library::mtd_get_semantic_tag, gst_analytics_mtd_get_semantic_tag));
#endif
#if GST_CHECK_VERSION(1, 29, 90)
static_assert(is_same(&Library::group_mtd_get_mtd_type, gst_analytics_group_mtd_get_mtd_type));
static_assert(is_same(&Library::group_mtd_get_member, gst_analytics_group_mtd_get_member));
static_assert(is_same(&Library::keypoint_mtd_get_mtd_type,
                      gst_analytics_keypoint_mtd_get_mtd_type));
static_assert(is_same(&Library::keypoint_mtd_get_position,
                      gst_analytics_keypoint_mtd_get_position));
#endif

static_assert(sizeof(Mtd) == sizeof(GstAnalyticsMtd));
static_assert(offsetof(Mtd, id) == offsetof(GstAnalyticsMtd, id));
static_assert(offsetof(Mtd, meta) == offsetof(GstAnalyticsMtd, meta));
static_assert(offsetof(MtdImpl, name) == offsetof(GstAnalyticsMtdImpl, name));
static_assert(offsetof(MtdImpl, transform) == offsetof(GstAnalyticsMtdImpl, mtd_meta_transform));

#if GST_CHECK_VERSION(1, 28, 0)
static_assert(sizeof(VideoMatrix) == sizeof(GstVideoMetaTransformMatrix));
static_assert(offsetof(VideoMatrix, in_rectangle) ==
              offsetof(GstVideoMetaTransformMatrix, in_rectangle));
static_assert(offsetof(VideoMatrix, out_info) == offsetof(GstVideoMetaTransformMatrix, out_info));
static_assert(offsetof(VideoMatrix, out_rectangle) ==
              offsetof(GstVideoMetaTransformMatrix, out_rectangle));
static_assert(offsetof(VideoMatrix, matrix) == offsetof(GstVideoMetaTransformMatrix, matrix));
#endif

TEST(GstAnalyticsAbi, IsThatOfTheHeaders) { SUCCEED(); }

}  // namespace
}  // namespace cudatensor::gstanalytics
