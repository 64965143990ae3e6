// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/geometrymeta.h"

#include <gst/video/video.h>

#include <algorithm>
#include <optional>

#include "gst/meta/geometryfields.h"
#include "gst/util/values.h"

namespace cudatensor {
namespace {

constexpr gint kFields = 2 + std::size(kGeometrySizes);

GeometryFields fields_of(const Geometry &g) {
  const ImageDesc source = stored_size(g);
  return {matrix_of(g),
          inverse_of(g),
          {source.width, source.height, g.dst_width, g.dst_height, g.pad_left, g.pad_top,
           g.content_width, g.content_height}};
}

GstCustomMeta *meta_of(GstBuffer *buffer) {
  return reinterpret_cast<GstCustomMeta *>(gst_buffer_get_meta(buffer, geometry_meta_api()));
}

/// Returns the geometry that an upstream element has attached. It contains only the sizes of the
/// source picture.
std::optional<GeometryFields> read_earlier_fields(GstBuffer *buffer) {
  GstCustomMeta *meta = meta_of(buffer);
  if (meta == nullptr) return std::nullopt;
  return read_geometry(gst_custom_meta_get_structure(meta), kSourceSizes);
}

GeometryFields after(const GeometryFields &earlier, GeometryFields facts) {
  facts.matrix = product(facts.matrix, earlier.matrix);
  facts.inverse = product(earlier.inverse, facts.inverse);
  std::copy_n(earlier.sizes.begin(), kSourceSizes, facts.sizes.begin());
  return facts;
}

/// Returns `geometry` composed with the geometry that `in` carries.
GeometryFields composed_fields(GstBuffer *in, const Geometry &geometry) {
  const auto earlier = read_earlier_fields(in);
  const GeometryFields facts = fields_of(geometry);
  return earlier ? after(*earlier, facts) : facts;
}

bool says(const GstStructure *s, const GeometryFields &facts) {
  const auto said = read_geometry(s);
  return said && said->matrix == facts.matrix && said->inverse == facts.inverse &&
         said->sizes == facts.sizes;
}

void write(GstStructure *s, const GeometryFields &facts) {
  set_array(s, "matrix", facts.matrix, G_TYPE_DOUBLE, g_value_set_double);
  set_array(s, "inverse", facts.inverse, G_TYPE_DOUBLE, g_value_set_double);
  for (size_t i = 0; i < facts.sizes.size(); ++i)
    gst_structure_set(s, kGeometrySizes[i], G_TYPE_INT, facts.sizes[i], nullptr);
}

/// Attaches the geometry. Does nothing if the buffer has the same meta from its previous use, as
/// those of pools usually do.
void attach(GstBuffer *out, const GeometryFields &facts) {
  GstCustomMeta *meta = meta_of(out);
  if (meta == nullptr) meta = gst_buffer_add_custom_meta(out, kGeometryMeta);
  GstStructure *s = gst_custom_meta_get_structure(meta);
  if (gst_structure_n_fields(s) == kFields && says(s, facts)) return;
  gst_structure_remove_all_fields(s);
  write(s, facts);
}

}  // namespace

void register_geometry_meta() {
  // The tags make elements that change the picture's size drop the meta, which would no longer be
  // valid.
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, nullptr};
  if (gst_meta_get_info(kGeometryMeta) == nullptr)
    gst_meta_register_custom(kGeometryMeta, tags, nullptr, nullptr, nullptr);
}

GType geometry_meta_api() {
  static const GType api = gst_meta_get_info(kGeometryMeta)->api;
  return api;
}

void attach_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry) {
  attach(out, composed_fields(in, geometry));
}

std::optional<GeometrySize> geometry_size_of(GstBuffer *buffer) {
  GstCustomMeta *meta = meta_of(buffer);
  if (meta == nullptr) return std::nullopt;
  const GstStructure *s = gst_custom_meta_get_structure(meta);
  GeometrySize size = {};
  const bool complete = gst_structure_get_int(s, "dst-width", &size.width) &&
                        gst_structure_get_int(s, "dst-height", &size.height);
  return complete ? std::optional<GeometrySize>(size) : std::nullopt;
}

void copy_geometry(GstBuffer *in, GstBuffer *out) {
  const auto fields = read_earlier_fields(in);
  if (fields) attach(out, *fields);
}

void remove_geometry(GstBuffer *out) {
  GstCustomMeta *meta = meta_of(out);
  if (meta != nullptr) gst_buffer_remove_meta(out, &meta->meta);
}

void write_geometry(GstBuffer *in, GstStructure *out, const Geometry &geometry) {
  const GeometryFields facts = composed_fields(in, geometry);
  if (!says(out, facts)) write(out, facts);
}

void propagate_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry) {
  const auto earlier = read_earlier_fields(in);
  if (earlier) return attach(out, after(*earlier, fields_of(geometry)));
  remove_geometry(out);
}

}  // namespace cudatensor
