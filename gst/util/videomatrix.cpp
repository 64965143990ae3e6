// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/videomatrix.h"

#include "gst/util/gstversion.h"

namespace cudatensor {

bool VideoMatrix::is_known() { return is_at_least_1(28); }

GQuark VideoMatrix::quark() { return g_quark_from_static_string("gst-video-matrix"); }

VideoMatrix video_matrix_of(const BoxMap &map, const GstVideoInfo *in, const GstVideoInfo *out) {
  const auto number = [&](int i) { return static_cast<gfloat>(map.matrix[i]); };
  return {
      in,
      {0, 0, map.in_width, map.in_height},
      out,
      {0, 0, map.out_width, map.out_height},
      {{number(0), number(1), number(2)}, {number(3), number(4), number(5)}, {0.0F, 0.0F, 1.0F}}};
}

std::optional<BoxMap> box_map_of(const VideoMatrix &v) {
  const auto &m = v.matrix;
  const double a = m[0][0], b = m[0][1], d = m[1][0], e = m[1][1];
  const bool is_affine = m[2][0] == 0.0F && m[2][1] == 0.0F && m[2][2] == 1.0F;
  if (!is_affine || a * e == b * d) return std::nullopt;
  const GstVideoRectangle &in = v.in_rectangle, &out = v.out_rectangle;
  return BoxMap{
      {a, b, m[0][2] + out.x - a * in.x - b * in.y, d, e, m[1][2] + out.y - d * in.x - e * in.y},
      GST_VIDEO_INFO_WIDTH(v.in_info),
      GST_VIDEO_INFO_HEIGHT(v.in_info),
      GST_VIDEO_INFO_WIDTH(v.out_info),
      GST_VIDEO_INFO_HEIGHT(v.out_info)};
}

}  // namespace cudatensor
