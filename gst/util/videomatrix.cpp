// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/videomatrix.h"

#include "gst/util/gstversion.h"

namespace cudatensor {

bool VideoMatrix::is_known() { return is_at_least_1(28); }

GQuark VideoMatrix::quark() { return g_quark_from_static_string("gst-video-matrix"); }

VideoMatrix video_matrix_of(const BoxMap &map, const GstVideoInfo *in, const GstVideoInfo *out) {
  return {in,
          {0, 0, map.in_width, map.in_height},
          out,
          {0, 0, map.out_width, map.out_height},
          {{static_cast<gfloat>(map.sx), 0.0F, static_cast<gfloat>(map.tx)},
           {0.0F, static_cast<gfloat>(map.sy), static_cast<gfloat>(map.ty)},
           {0.0F, 0.0F, 1.0F}}};
}

std::optional<BoxMap> box_map_of(const VideoMatrix &v) {
  const auto &m = v.matrix;
  const bool scales = m[0][0] > 0.0F && m[1][1] > 0.0F && m[2][2] == 1.0F;
  const bool turns = m[0][1] != 0.0F || m[1][0] != 0.0F || m[2][0] != 0.0F || m[2][1] != 0.0F;
  if (!scales || turns) return std::nullopt;
  const double sx = m[0][0], sy = m[1][1];
  return BoxMap{sx,
                sy,
                m[0][2] + v.out_rectangle.x - sx * v.in_rectangle.x,
                m[1][2] + v.out_rectangle.y - sy * v.in_rectangle.y,
                GST_VIDEO_INFO_WIDTH(v.in_info),
                GST_VIDEO_INFO_HEIGHT(v.in_info),
                GST_VIDEO_INFO_WIDTH(v.out_info),
                GST_VIDEO_INFO_HEIGHT(v.out_info)};
}

}  // namespace cudatensor
