// SPDX-License-Identifier: LGPL-2.1-or-later
#include "geometrymeta.h"

#include <gst/video/video.h>

#include <array>
#include <optional>

#include "values.h"

namespace cudatensor {
namespace {

/// A row-major 2×3 matrix.
using Matrix = std::array<double, 6>;

Matrix forward(const Geometry &g) { return {g.sx, 0.0, g.tx, 0.0, g.sy, g.ty}; }

Matrix backward(const Geometry &g) {
  // 0 - x, so that no 0 gets a sign.
  return {1.0 / g.sx, 0.0, 0.0 - g.tx / g.sx, 0.0, 1.0 / g.sy, 0.0 - g.ty / g.sy};
}

/// First b, then a.
Matrix compose(const Matrix &a, const Matrix &b) {
  return {a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[0] * b[2] + a[1] * b[5] + a[2],
          a[3] * b[0] + a[4] * b[3], a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]};
}

void set_matrix(GstStructure *s, const char *field, const Matrix &matrix) {
  set_array(s, field, matrix, G_TYPE_DOUBLE, g_value_set_double);
}

std::optional<Matrix> get_matrix(const GstStructure *s, const char *field) {
  const GValue *array = gst_structure_get_value(s, field);
  Matrix matrix;
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array) ||
      gst_value_array_get_size(array) != matrix.size())
    return std::nullopt;
  for (guint i = 0; i < matrix.size(); ++i) {
    const GValue *item = gst_value_array_get_value(array, i);
    if (!G_VALUE_HOLDS_DOUBLE(item)) return std::nullopt;
    matrix[i] = g_value_get_double(item);
  }
  return matrix;
}

/// What an earlier element said of the first picture.
struct Earlier {
  Matrix matrix, inverse;
  int src_width, src_height;
};

std::optional<Earlier> earlier_geometry(GstBuffer *buffer) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, kGeometryMeta);
  if (meta == nullptr) return std::nullopt;
  const GstStructure *s = gst_custom_meta_get_structure(meta);
  const auto matrix = get_matrix(s, "matrix"), inverse = get_matrix(s, "inverse");
  Earlier earlier = {};
  if (!matrix || !inverse || !gst_structure_get_int(s, "src-width", &earlier.src_width) ||
      !gst_structure_get_int(s, "src-height", &earlier.src_height))
    return std::nullopt;
  earlier.matrix = *matrix;
  earlier.inverse = *inverse;
  return earlier;
}

void attach(GstBuffer *out, const Geometry &g, const std::optional<Earlier> &earlier) {
  GstStructure *s = gst_custom_meta_get_structure(gst_buffer_add_custom_meta(out, kGeometryMeta));
  Matrix matrix = forward(g), inverse = backward(g);
  if (earlier) {
    matrix = compose(matrix, earlier->matrix);
    inverse = compose(earlier->inverse, inverse);
  }
  set_matrix(s, "matrix", matrix);
  set_matrix(s, "inverse", inverse);
  gst_structure_set(s, "src-width", G_TYPE_INT, earlier ? earlier->src_width : g.src_width,
                    "src-height", G_TYPE_INT, earlier ? earlier->src_height : g.src_height,
                    "dst-width", G_TYPE_INT, g.dst_width, "dst-height", G_TYPE_INT, g.dst_height,
                    "pad-left", G_TYPE_INT, g.pad_left, "pad-top", G_TYPE_INT, g.pad_top,
                    "content-width", G_TYPE_INT, g.content_width, "content-height", G_TYPE_INT,
                    g.content_height, nullptr);
}

struct Span {
  guint begin, length;
};

/// One axis of a region in the output.
std::optional<Span> map_span(guint begin, guint length, double s, double t, int dst) {
  if (length == 0) return std::nullopt;
  const double low = std::floor(s * begin + t);
  const double high = std::ceil(s * (static_cast<double>(begin) + length) + t);
  const double first = std::fmax(low, 0.0), last = std::fmin(high, dst);
  if (first >= last) return std::nullopt;
  return Span{static_cast<guint>(first), static_cast<guint>(last - first)};
}

struct Region {
  Span x, y;
};

std::optional<Region> map_region(const Geometry &g, Span x, Span y) {
  const auto across = map_span(x.begin, x.length, g.sx, g.tx, g.dst_width);
  const auto down = map_span(y.begin, y.length, g.sy, g.ty, g.dst_height);
  if (!across || !down) return std::nullopt;
  return Region{*across, *down};
}

void transform_interest(const GstVideoRegionOfInterestMeta *in, GstBuffer *out, const Geometry &g) {
  const auto region = map_region(g, {in->x, in->w}, {in->y, in->h});
  if (!region) return;
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta_id(
      out, in->roi_type, region->x.begin, region->y.begin, region->x.length, region->y.length);
  meta->id = in->id;
  meta->parent_id = in->parent_id;
  for (const GList *l = in->params; l != nullptr; l = l->next)
    gst_video_region_of_interest_meta_add_param(
        meta, gst_structure_copy(static_cast<const GstStructure *>(l->data)));
}

void transform_crop(const GstVideoCropMeta *in, GstBuffer *out, const Geometry &g) {
  const auto region = map_region(g, {in->x, in->width}, {in->y, in->height});
  if (!region) return;
  GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta(out);
  meta->x = region->x.begin;
  meta->y = region->y.begin;
  meta->width = region->x.length;
  meta->height = region->y.length;
}

}  // namespace

void register_geometry_meta() {
  // The tags let elements that scale drop what they would make wrong.
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, nullptr};
  if (gst_meta_get_info(kGeometryMeta) == nullptr)
    gst_meta_register_custom(kGeometryMeta, tags, nullptr, nullptr, nullptr);
}

void attach_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry) {
  attach(out, geometry, earlier_geometry(in));
}

void carry_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry) {
  const auto earlier = earlier_geometry(in);
  if (earlier) attach(out, geometry, earlier);
}

void transform_regions(GstBuffer *in, GstBuffer *out, const Geometry &geometry) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(in, &state)) {
    if (meta->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
      transform_interest(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta), out, geometry);
    else if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE)
      transform_crop(reinterpret_cast<GstVideoCropMeta *>(meta), out, geometry);
  }
}

bool is_geometric_meta(GType api) {
  return api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE || api == GST_VIDEO_CROP_META_API_TYPE ||
         api == gst_meta_get_info(kGeometryMeta)->api;
}

}  // namespace cudatensor
