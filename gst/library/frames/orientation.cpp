// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/orientation.h"

#include <utility>

namespace cudatensor {
namespace {

constexpr guint kColors = GST_VIDEO_FORMAT_FLAG_YUV | GST_VIDEO_FORMAT_FLAG_RGB |
                          GST_VIDEO_FORMAT_FLAG_GRAY | GST_VIDEO_FORMAT_FLAG_PALETTE;

/// The axes of the turned picture that run opposite to those of the stored one.
struct Reversal {
  bool across, along;  // along the stored picture's rows and columns
};

Reversal reversal_of(GstVideoOrientationMethod method) {
  switch (method) {
    case GST_VIDEO_ORIENTATION_90R: return {false, true};
    case GST_VIDEO_ORIENTATION_90L: return {true, false};
    case GST_VIDEO_ORIENTATION_180:
    case GST_VIDEO_ORIENTATION_UR_LL: return {true, true};
    case GST_VIDEO_ORIENTATION_HORIZ: return {true, false};
    case GST_VIDEO_ORIENTATION_VERT: return {false, true};
    default: return {false, false};
  }
}

bool has_same_samples(const GstVideoFormatInfo *a, const GstVideoFormatInfo *b) {
  if ((GST_VIDEO_FORMAT_INFO_FLAGS(a) & kColors) != (GST_VIDEO_FORMAT_INFO_FLAGS(b) & kColors))
    return false;
  const guint colors = GST_VIDEO_FORMAT_INFO_IS_GRAY(a) ? 1 : 3;
  for (guint i = 0; i < colors; ++i) {
    if (GST_VIDEO_FORMAT_INFO_DEPTH(a, i) != GST_VIDEO_FORMAT_INFO_DEPTH(b, i) ||
        GST_VIDEO_FORMAT_INFO_W_SUB(a, i) != GST_VIDEO_FORMAT_INFO_W_SUB(b, i) ||
        GST_VIDEO_FORMAT_INFO_H_SUB(a, i) != GST_VIDEO_FORMAT_INFO_H_SUB(b, i))
      return false;
  }
  return true;
}

}  // namespace

bool swaps_sides(GstVideoOrientationMethod method) {
  return method == GST_VIDEO_ORIENTATION_90R || method == GST_VIDEO_ORIENTATION_90L ||
         method == GST_VIDEO_ORIENTATION_UL_LR || method == GST_VIDEO_ORIENTATION_UR_LL;
}

GstVideoChromaSite turned_chroma_site(GstVideoChromaSite stored, GstVideoOrientationMethod method) {
  if (stored == GST_VIDEO_CHROMA_SITE_UNKNOWN || method == GST_VIDEO_ORIENTATION_IDENTITY)
    return stored;
  const Reversal reversed = reversal_of(method);
  bool across = (stored & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0 && !reversed.across;
  bool along = (stored & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0 && !reversed.along;
  if (swaps_sides(method)) std::swap(across, along);
  if (across && along) return GST_VIDEO_CHROMA_SITE_COSITED;
  if (across) return GST_VIDEO_CHROMA_SITE_H_COSITED;
  return along ? GST_VIDEO_CHROMA_SITE_V_COSITED : GST_VIDEO_CHROMA_SITE_NONE;
}

GstVideoFormat find_same_samples(GstVideoFormat format, const GstCaps *formats) {
  const GValue *list = gst_structure_get_value(gst_caps_get_structure(formats, 0), "format");
  if (list == nullptr || !GST_VALUE_HOLDS_LIST(list)) return GST_VIDEO_FORMAT_UNKNOWN;
  GstVideoFormat found = GST_VIDEO_FORMAT_UNKNOWN;
  for (guint i = 0; i < gst_value_list_get_size(list); ++i) {
    const gchar *name = g_value_get_string(gst_value_list_get_value(list, i));
    const GstVideoFormat other = gst_video_format_from_string(name);
    if (other == format) return format;
    const bool is_found = found != GST_VIDEO_FORMAT_UNKNOWN;
    if (!is_found &&
        has_same_samples(gst_video_format_get_info(format), gst_video_format_get_info(other)))
      found = other;
  }
  return found;
}

}  // namespace cudatensor
