// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaTensorGeometryMeta: where a picture lies in the frame or tensor that was made from it.
//
// A custom meta, so that any language reads it through its GstStructure with no header of ours:
// `matrix` and `inverse` (GST_TYPE_ARRAY of six doubles, row-major 2×3: source → output and back,
// in continuous pixel coordinates), `src-width`, `src-height`, `dst-width`, `dst-height`,
// `pad-left`, `pad-top`, `content-width`, `content-height` (gint, pixels).
#pragma once

#include <gst/gst.h>

#include "kernels/geometry.h"

namespace cudatensor {

constexpr const char *kGeometryMeta = "GstCudaTensorGeometryMeta";

/// Once per process, before buffers carry one.
void register_geometry_meta();

GType geometry_meta_api();

/// Makes `geometry` that of `out`, whatever it carries. Where `in` carries a geometry already, the
/// two are composed, so that matrix and src-* speak of the first picture.
void attach_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry);

/// Makes sure that `out` carries none.
void drop_geometry(GstBuffer *out);

/// Writes the fields that the meta would have into a structure, where they differ.
void write_geometry(GstBuffer *in, GstStructure *out, const Geometry &geometry);

/// The same as attach_geometry() where `in` carries a geometry that would otherwise be lost; otherwise `out` carries none.
void carry_geometry(GstBuffer *in, GstBuffer *out, const Geometry &geometry);

/// Maps the regions of interest and the crop of `in` to `out`: edges rounded outwards, clipped to
/// the output, dropped where nothing is left.
void transform_regions(GstBuffer *in, GstBuffer *out, const Geometry &geometry);

/// Whether a meta is one that the functions above take care of.
bool is_geometric_meta(GType api);

}  // namespace cudatensor
