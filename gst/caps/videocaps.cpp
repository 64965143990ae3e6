// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/videocaps.h"

#include <cstring>

#include "gst/util/values.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Returns the formats that `holds` accepts, without those that this release of GStreamer lacks.
template <class Holds>
std::string formats_that(const Holds &holds) {
  std::string list;
  for (const PixelFormat format : all_formats()) {
    const bool known = gst_video_format_from_string(name_of(format)) != GST_VIDEO_FORMAT_UNKNOWN;
    if (!known || !holds(layout_of(format))) continue;
    list += (list.empty() ? "" : ", ") + std::string(name_of(format));
  }
  return list;
}

ColorMatrix matrix_of(const GstVideoInfo &info) {
  switch (info.colorimetry.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709: return ColorMatrix::bt709;
    case GST_VIDEO_COLOR_MATRIX_BT2020: return ColorMatrix::bt2020;
    // RGB and gray do not use the matrix; check_matrix() rejects the other ones.
    default: return ColorMatrix::bt601;
  }
}

/// Returns GStreamer's colorimetry for caps without one.
GstVideoColorimetry default_colorimetry(const GstVideoInfo &info) {
  GstVideoInfo plain;
  gst_video_info_set_format(&plain, GST_VIDEO_INFO_FORMAT(&info), static_cast<guint>(info.width),
                            static_cast<guint>(info.height));
  return plain.colorimetry;
}

/// Returns the number in a field. GStreamer stores any number that a text has, also one for which
/// the enumeration has no name.
template <typename Enum>
int number_in(const Enum &field) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &field, sizeof(number));
  return number;
}

bool is_known_range(int range) {
  return range == GST_VIDEO_COLOR_RANGE_0_255 || range == GST_VIDEO_COLOR_RANGE_16_235;
}

/// Whether samples of the format can have the matrix.
bool is_known_matrix(int matrix, const GstVideoInfo &info) {
  const bool rgb = matrix == GST_VIDEO_COLOR_MATRIX_RGB;
  if (GST_VIDEO_INFO_IS_RGB(&info)) return rgb;
  if (GST_VIDEO_INFO_IS_YUV(&info) && rgb) return false;
  return matrix > GST_VIDEO_COLOR_MATRIX_UNKNOWN && matrix <= GST_VIDEO_COLOR_MATRIX_BT2020;
}

/// Returns the colorimetry that a text describes for a picture. If the range or the matrix is
/// unknown, as decoders leave it, uses GStreamer's default for it alone. GstVideoInfo would take
/// the default of all parts if the matrix is unknown, so that the full range would become 16-235.
GstVideoColorimetry parse_colorimetry(const char *text, const GstVideoInfo &info) {
  const GstVideoColorimetry others = default_colorimetry(info);
  GstVideoColorimetry told;
  if (text == nullptr || !gst_video_colorimetry_from_string(&told, text)) return others;
  if (!is_known_range(number_in(told.range))) told.range = others.range;
  if (!is_known_matrix(number_in(told.matrix), info)) told.matrix = others.matrix;
  return told;
}

/// Returns the chroma-site, from the caps if they have it, because GstVideoInfo 1.22 overwrites it
/// if they have no colorimetry.
GstVideoChromaSite chroma_site_of(const GstCaps *caps, const GstVideoInfo &info) {
  const char *text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "chroma-site");
  return text != nullptr ? gst_video_chroma_site_from_string(text) : info.chroma_site;
}

std::string colorimetry_text(const GstVideoColorimetry &colorimetry) {
  gchar *owned = gst_video_colorimetry_to_string(&colorimetry);
  const std::string text = owned != nullptr ? owned : "";
  g_free(owned);
  return text;
}

/// Fixates the format of a structure whose size is fixed, and returns a picture of both.
GstVideoInfo picture_of(GstStructure *s) {
  int width = 1, height = 1;
  gst_structure_fixate_field(s, "format");
  gst_structure_get(s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, nullptr);
  GstVideoInfo info;
  gst_video_info_set_format(&info,
                            gst_video_format_from_string(gst_structure_get_string(s, "format")),
                            static_cast<guint>(width), static_cast<guint>(height));
  return info;
}

/// Sets the first colorimetry that the structure allows and `fits` accepts, or `own` if the
/// structure does not restrict it.
template <class Fits>
void choose_colorimetry(GstStructure *s, const GstVideoColorimetry &own, const Fits &fits) {
  const GstVideoInfo picture = picture_of(s);
  std::vector<std::string> texts = allowed_strings(s, "colorimetry");
  if (texts.empty()) texts.push_back(colorimetry_text(own));
  for (const std::string &text : texts) {
    if (!fits(parse_colorimetry(text.c_str(), picture))) continue;
    return gst_structure_set(s, "colorimetry", G_TYPE_STRING, text.c_str(), nullptr);
  }
  throw Error(Error::Code::settings, "downstream requires colorimetry " + texts.front() +
                                         ", but the picture has " + colorimetry_text(own));
}

/// GStreamer rejects integer ranges of a single value.
void set_up_to(GstStructure *s, const char *field, int max) {
  if (max > 1)
    gst_structure_set(s, field, GST_TYPE_INT_RANGE, 1, max, nullptr);
  else
    gst_structure_set(s, field, G_TYPE_INT, 1, nullptr);
}

}  // namespace

std::string input_formats() {
  return formats_that([](const FormatLayout &) { return true; });
}

std::string yuv_input_formats() {
  return formats_that([](const FormatLayout &layout) { return layout.model == ColorModel::yuv; });
}

GstCaps *make_video_template_caps(const std::string &formats) {
  const std::string size = "[ 1, " + std::to_string(kMaxImageSize) + " ]";
  const std::string text = "video/x-raw, format=(string){ " + formats + " }, width=(int)" + size +
                           ", height=(int)" + size;
  return gst_caps_from_string(text.c_str());
}

GstStructure *new_open_structure(const GstStructure *picture) {
  GstStructure *s = gst_structure_copy(picture);
  gst_structure_remove_fields(s, "format", "colorimetry", "chroma-site", "pixel-aspect-ratio",
                              "interlace-mode", "field-order", nullptr);
  // These fields describe DeepStream's memory.
  gst_structure_remove_fields(s, "batch-size", "num-surfaces-per-frame", "nvbuf-memory-type",
                              "gpu-id", "block-linear", nullptr);
  limit_size(s, kMaxImageSize, kMaxImageSize);
  if (!gst_structure_has_field(s, "framerate"))
    gst_structure_set(s, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  return s;
}

void limit_size(GstStructure *s, int width, int height) {
  set_up_to(s, "width", width);
  set_up_to(s, "height", height);
}

void fixate_size(GstStructure *s, int width, int height) {
  gst_structure_fixate_field_nearest_int(s, "width", width);
  gst_structure_fixate_field_nearest_int(s, "height", height);
}

std::optional<GstVideoInfo> video_info_of(const GstCaps *caps) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return std::nullopt;
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  info.colorimetry = parse_colorimetry(gst_structure_get_string(s, "colorimetry"), info);
  return info;
}

GstVideoInfo parse_video_caps(const GstCaps *caps) {
  const auto info = video_info_of(caps);
  if (!info) throw Error(Error::Code::settings, "the caps do not describe a picture");
  check_size("a picture", info->width, info->height);
  return *info;
}

std::string unknown_format(const GstCaps *caps, const GstCaps *pad_template) {
  if (gst_caps_get_size(caps) == 0) return "";
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const char *format = gst_structure_get_string(s, "format");
  if (!gst_structure_has_name(s, "video/x-raw") || format == nullptr) return "";
  for (guint i = 0; i < gst_caps_get_size(pad_template); ++i) {
    const GValue *known =
        gst_structure_get_value(gst_caps_get_structure(pad_template, i), "format");
    if (known != nullptr &&
        gst_value_intersect(nullptr, gst_structure_get_value(s, "format"), known))
      return "";
  }
  return format;
}

ImageDesc image_desc_of(const GstVideoInfo &info) {
  for (const PixelFormat format : all_formats())
    if (g_str_equal(name_of(format), GST_VIDEO_INFO_NAME(&info)))
      return {format, info.width, info.height};
  throw Error(Error::Code::settings,
              std::string("video format ") + GST_VIDEO_INFO_NAME(&info) + " is not supported");
}

Source source_of(const GstCaps *caps, const GstVideoInfo &info) {
  const GstVideoChromaSite site = chroma_site_of(caps, info);
  const bool full = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  return {image_desc_of(info),
          {matrix_of(info), full ? ColorRange::full : ColorRange::limited},
          (site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0,
          (site & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0};
}

void check_matrix(const GstVideoInfo &info) {
  if (!GST_VIDEO_INFO_IS_YUV(&info)) return;
  const GstVideoColorMatrix matrix = info.colorimetry.matrix;
  if (matrix == GST_VIDEO_COLOR_MATRIX_FCC || matrix == GST_VIDEO_COLOR_MATRIX_SMPTE240M)
    throw Error(Error::Code::input,
                "colorimetry " + colorimetry_text(info.colorimetry) +
                    " is not supported: conversion needs the matrix of BT.601, BT.709 or BT.2020");
}

std::string hdr_warning(const GstVideoInfo &info) {
  const int transfer = number_in(info.colorimetry.transfer);
  const bool pq = transfer == GST_VIDEO_TRANSFER_SMPTE2084;
  if (!pq && transfer != GST_VIDEO_TRANSFER_ARIB_STD_B67) return "";
  return "the video is HDR (" + colorimetry_text(info.colorimetry) + "): its " +
         (pq ? "PQ" : "HLG") +
         " transfer function is not converted, so that samples differ from those of SDR video, "
         "with "
         "which most networks were trained. Convert the video to BT.709 upstream";
}

void set_result_colorimetry(GstStructure *s, const GstVideoInfo &in) {
  const bool gray = g_strcmp0(gst_structure_get_string(s, "format"), "GRAY8") == 0;
  GstVideoColorimetry own = in.colorimetry;
  own.range = GST_VIDEO_COLOR_RANGE_0_255;
  own.matrix = gray ? GST_VIDEO_COLOR_MATRIX_BT601 : GST_VIDEO_COLOR_MATRIX_RGB;
  choose_colorimetry(s, own, [&](const GstVideoColorimetry &asked) {
    return number_in(asked.range) == own.range && (gray || number_in(asked.matrix) == own.matrix);
  });
}

void set_own_colorimetry(GstStructure *s, const GstVideoInfo &in) {
  choose_colorimetry(s, in.colorimetry, [&](const GstVideoColorimetry &asked) {
    return gst_video_colorimetry_is_equal(&asked, &in.colorimetry);
  });
}

void fixate_pixel_aspect_ratio(GstStructure *s, const GstVideoInfo &in, int width, int height) {
  int n = 1, d = 1;
  const bool fits = gst_util_fraction_multiply(in.width, width, height, in.height, &n, &d) &&
                    gst_util_fraction_multiply(n, d, in.par_n, in.par_d, &n, &d);
  if (!fits) n = d = 1;
  if (gst_structure_has_field(s, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction(s, "pixel-aspect-ratio", n, d);
  else
    gst_structure_set(s, "pixel-aspect-ratio", GST_TYPE_FRACTION, n, d, nullptr);
}

}  // namespace cudatensor
