// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/lumas.h"

namespace luminance {

bool has_lumas(const GstVideoInfo &info) {
  if (GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_P010_10LE) return true;
  return (GST_VIDEO_INFO_IS_YUV(&info) || GST_VIDEO_INFO_IS_RGB(&info) ||
          GST_VIDEO_INFO_IS_GRAY(&info)) &&
         GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8;
}

Lumas::Lumas(const GstVideoFrame &frame)
    : frame_(frame),
      is_rgb_(GST_VIDEO_INFO_IS_RGB(&frame.info)),
      upper_(GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0) > 8 ? 1 : 0) {}

}  // namespace luminance
