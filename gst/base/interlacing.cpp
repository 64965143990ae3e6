// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/interlacing.h"

#include "kernels/error.h"

namespace cudatensor {
namespace {

bool is_interlaced(const GstVideoInfo &info, GstBuffer *frame) {
  switch (GST_VIDEO_INFO_INTERLACE_MODE(&info)) {
    case GST_VIDEO_INTERLACE_MODE_PROGRESSIVE: return false;
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      return GST_BUFFER_FLAG_IS_SET(frame, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    default: return true;
  }
}

}  // namespace

void check_interlacing(const GstVideoInfo &info, GstBuffer *frame, Interlaced setting) {
  if (setting == Interlaced::as_progressive || !is_interlaced(info, frame)) return;
  throw Error(Error::Code::input,
              "the frame is interlaced: put the element deinterlace before this one, or set "
              "interlaced=as-progressive to resize both fields as one picture");
}

void clear_fields(const GstVideoInfo &source, GstBuffer *frame) {
  if (!GST_VIDEO_INFO_IS_INTERLACED(&source)) return;
  GST_BUFFER_FLAG_UNSET(frame, GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF |
                                   GST_VIDEO_BUFFER_FLAG_RFF | GST_VIDEO_BUFFER_FLAG_ONEFIELD);
}

}  // namespace cudatensor
