// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/jpeg.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <gstcudatensor.h>

#include <algorithm>
#include <string>

#include "capture/surfaces.h"

namespace luminance {
namespace {

constexpr gint kWidth = 320, kMinSide = 16;

/// Returns the size of the scaled picture as fields of caps. Its pixels are square.
std::string size_of(const GstVideoInfo &info) {
  const double shape = static_cast<double>(info.width) * info.par_n / info.par_d / info.height;
  const gint width = std::clamp(info.width, kMinSide, kWidth) & ~1;
  const gint height = std::clamp(static_cast<gint>(width / shape), kMinSide, 2 * kWidth) & ~1;
  return "width=" + std::to_string(width) + ",height=" + std::to_string(height);
}

bool is_on_gpu(GstCaps *caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
}

/// Returns the elements that bring a picture to the host. A picture in surfaces is scaled on the
/// way, in its own shape.
std::string download_of(GstCaps *caps, const GstVideoInfo &info) {
  if (is_on_gpu(caps)) return "cudadownload ! ";
  if (!is_in_surfaces(caps)) return "";
  const gint width = std::min(info.width, kWidth);
  const gint height = std::clamp(width * info.height / info.width, 1, 2 * kWidth);
  return "cudaletterbox resize-mode=ultralytics antialias=true ! video/x-raw,format=RGB,width=" +
         std::to_string(width) + ",height=" + std::to_string(height) + " ! ";
}

GstElement *pipeline_for(GstCaps *caps) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return nullptr;
  const std::string text = "appsrc name=in ! " + download_of(caps, info) +
                           "videoconvertscale add-borders=false ! video/x-raw,format=I420,"
                           "pixel-aspect-ratio=1/1," +
                           size_of(info) + " ! jpegenc quality=80 ! appsink name=out sync=false";
  g_autoptr(GError) error = nullptr;
  GstElement *pipeline = gst_parse_launch(text.c_str(), &error);
  if (error != nullptr) g_clear_object(&pipeline);
  return pipeline;
}

GBytes *bytes_of(GstSample *sample) {
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  gpointer data = nullptr;
  gsize size = 0;
  gst_buffer_extract_dup(buffer, 0, gst_buffer_get_size(buffer), &data, &size);
  return g_bytes_new_take(data, size);
}

}  // namespace

GBytes *jpeg_of(GstSample *sample) {
  constexpr GstClockTime kTimeout = 5 * GST_SECOND;
  GstCaps *caps = gst_sample_get_caps(sample);
  g_autoptr(GstElement) pipeline = caps != nullptr ? pipeline_for(caps) : nullptr;
  if (pipeline == nullptr) return nullptr;
  if (is_on_gpu(caps)) gst_cuda_tensor_share_primary_context(pipeline, 0, nullptr);
  g_autoptr(GstElement) in = gst_bin_get_by_name(GST_BIN(pipeline), "in");
  g_autoptr(GstElement) out = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  gst_app_src_set_caps(GST_APP_SRC(in), caps);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gst_app_src_push_sample(GST_APP_SRC(in), sample);
  gst_app_src_end_of_stream(GST_APP_SRC(in));
  g_autoptr(GstSample) made = gst_app_sink_try_pull_sample(GST_APP_SINK(out), kTimeout);
  GBytes *const bytes = made != nullptr ? bytes_of(made) : nullptr;
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return bytes;
}

}  // namespace luminance
