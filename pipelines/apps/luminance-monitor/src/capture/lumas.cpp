// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/lumas.h"

namespace luminance {

bool has_lumas(const GstVideoInfo &info) {
  const GstVideoFormatInfo *const format = info.finfo;
  const auto is = [format](GstVideoFormatFlags flag) {
    return (GST_VIDEO_FORMAT_INFO_FLAGS(format) & flag) != 0;
  };
  const guint depth = GST_VIDEO_FORMAT_INFO_DEPTH(format, 0);
  // Samples of these formats share bytes, or are not stored line by line.
  if (is(GST_VIDEO_FORMAT_FLAG_COMPLEX) || is(GST_VIDEO_FORMAT_FLAG_TILED)) return false;
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(format)) return depth == 8;
  if (!GST_VIDEO_FORMAT_INFO_IS_YUV(format) && !GST_VIDEO_FORMAT_INFO_IS_GRAY(format)) return false;
  return depth == 8 || (depth > 8 && depth <= 16 && is(GST_VIDEO_FORMAT_FLAG_LE));
}

Lumas::Lumas(const GstVideoFrame &frame)
    : frame_(frame),
      is_rgb_(GST_VIDEO_INFO_IS_RGB(&frame.info)),
      is_deep_(GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0) > 8),
      below_(GST_VIDEO_FORMAT_INFO_SHIFT(frame.info.finfo, 0) +
             GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0) - 8) {}

}  // namespace luminance
