// SPDX-License-Identifier: LGPL-2.1-or-later
// A C interface to GstVideoConverter with the default settings of videoconvertscale.
#include <gst/video/video.h>

#include <initializer_list>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Converter {
  GstVideoConverter *converter;
  GstVideoFrame in, out;
};

/// A frame in a new buffer.
void make_frame(GstVideoFrame *frame, const char *format, int width, int height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), width, height);
  // The matrix of the frames, which OpenCV uses too.
  if (GST_VIDEO_INFO_IS_YUV(&info)) info.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_BT601;
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_video_frame_map(frame, &info, buffer, GST_MAP_READWRITE);
  gst_buffer_unref(buffer);
}

}  // namespace

/// A bilinear converter. The picture fills `height` rows from `top` on, the rest is gray (114).
EXPORT Converter *converter_new(const char *in_format, int in_width, int in_height,
                                const char *out_format, int out_width, int out_height, int top,
                                int height, unsigned threads) {
  gst_init(nullptr, nullptr);
  auto *c = new Converter();
  make_frame(&c->in, in_format, in_width, in_height);
  make_frame(&c->out, out_format, out_width, out_height);
  GstStructure *config = gst_structure_new(
      "config", GST_VIDEO_CONVERTER_OPT_DEST_X, G_TYPE_INT, 0, GST_VIDEO_CONVERTER_OPT_DEST_Y,
      G_TYPE_INT, top, GST_VIDEO_CONVERTER_OPT_DEST_WIDTH, G_TYPE_INT, out_width,
      GST_VIDEO_CONVERTER_OPT_DEST_HEIGHT, G_TYPE_INT, height, GST_VIDEO_CONVERTER_OPT_FILL_BORDER,
      G_TYPE_BOOLEAN, TRUE, GST_VIDEO_CONVERTER_OPT_BORDER_ARGB, G_TYPE_UINT, 0xff727272u,
      GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD, GST_TYPE_VIDEO_RESAMPLER_METHOD,
      GST_VIDEO_RESAMPLER_METHOD_LINEAR, GST_VIDEO_RESAMPLER_OPT_MAX_TAPS, G_TYPE_INT, 2,
      GST_VIDEO_CONVERTER_OPT_THREADS, G_TYPE_UINT, threads, nullptr);
  c->converter = gst_video_converter_new(&c->in.info, &c->out.info, config);
  return c;
}

/// The address of the input or output picture. Its rows have no gaps.
EXPORT void *converter_data(Converter *c, int out) {
  return GST_VIDEO_FRAME_PLANE_DATA(out != 0 ? &c->out : &c->in, 0);
}

EXPORT void converter_run(Converter *c) {
  gst_video_converter_frame(c->converter, &c->in, &c->out);
}

EXPORT void converter_free(Converter *c) {
  gst_video_converter_free(c->converter);
  for (GstVideoFrame *frame : {&c->in, &c->out}) gst_video_frame_unmap(frame);
  delete c;
}
