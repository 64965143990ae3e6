// SPDX-License-Identifier: LGPL-2.1-or-later
// GstVideoMetaTransformMatrix. With it, GStreamer since 1.28 tells metas how a picture was scaled,
// moved and cropped. The headers of earlier releases lack it, so it is declared here.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "gst/util/boxmap.h"

namespace cudatensor {

struct VideoMatrix {
  const GstVideoInfo *in_info;
  GstVideoRectangle in_rectangle;
  const GstVideoInfo *out_info;
  GstVideoRectangle out_rectangle;
  gfloat matrix[3][3];  ///< maps the origin of in_rectangle to that of out_rectangle

  /// Whether this release of GStreamer knows the transform.
  static bool is_known();
  /// Returns the type of the transform, for GstMetaTransformFunction.
  static GQuark quark();
};

/// Returns the transform of a map. Only the sizes of `in` and `out` are read; both must outlive the
/// result.
VideoMatrix video_matrix_of(const BoxMap &map, const GstVideoInfo *in, const GstVideoInfo *out);

/// Returns the map of a transform; no value if it is not affine, or has no inverse.
std::optional<BoxMap> box_map_of(const VideoMatrix &matrix);

}  // namespace cudatensor
