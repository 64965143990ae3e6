// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaTensorGeometryMeta describes the position of a source picture in a frame or tensor.
//
// It is a custom meta, so that any language can read its GstStructure without a header. Fields:
// `matrix` and `inverse` (GST_TYPE_ARRAY of six doubles, row-major 2×3: source → output and back,
// in continuous pixel coordinates), `src-width`, `src-height`, `dst-width`, `dst-height`,
// `pad-left`, `pad-top`, `content-width`, `content-height` (gint, pixels).
#pragma once

#include <gst/gst.h>

#include <optional>

#include "kernels/geometry.h"

namespace cudatensor {

constexpr const char *kGeometryMeta = "GstCudaTensorGeometryMeta";

/// Must be called once per process, before the meta is used.
void register_geometry_meta();

GType geometry_meta_api();

/// Sets the geometry meta of `out`, replacing any previous one. If `in` carries a geometry, the two
/// are composed, so that matrix and src-* refer to the original picture.
void attach_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry);

/// The size of the picture that a buffer holds, in pixels.
struct GeometrySize {
  int width, height;
};
/// Returns dst-width and dst-height; no value if the buffer has no geometry.
std::optional<GeometrySize> geometry_size_of(GstBuffer *buffer);

/// Copies the geometry of `in`, if any, to a buffer that shows the same picture. Copies only the
/// fields that these functions read.
void copy_geometry(GstBuffer *in, GstBuffer *out);

/// Removes the geometry meta from `out`, if any.
void remove_geometry(GstBuffer *out);

/// Writes the fields of the geometry meta to a structure, unless it already has these values.
void write_geometry(GstBuffer *in, GstStructure *out, const Geometry &geometry);

/// If `in` carries a geometry, does the same as attach_geometry(); otherwise removes the meta from
/// `out`.
void propagate_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry);

}  // namespace cudatensor
