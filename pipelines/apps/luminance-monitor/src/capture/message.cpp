// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/message.h"

namespace luminance {
namespace {

bool read_histogram(const GstStructure *s, Histogram &histogram) {
  const GValue *bins = gst_structure_get_value(s, "histogram");
  if (bins == nullptr || !GST_VALUE_HOLDS_ARRAY(bins) ||
      gst_value_array_get_size(bins) != histogram.size())
    return false;
  for (guint i = 0; i < histogram.size(); ++i)
    histogram[i] = g_value_get_uint64(gst_value_array_get_value(bins, i));
  return true;
}

}  // namespace

std::optional<Frame> frame_of(GstMessage *message) {
  const GstStructure *s = gst_message_get_structure(message);
  if (s == nullptr || !gst_structure_has_name(s, "cudahistogram")) return {};
  Frame frame;
  Measurement &m = frame.measurement;
  guint64 timestamp = 0, running_time = 0, stream_time = 0, pixels = 0;
  const gboolean complete = gst_structure_get(
      s, "timestamp", G_TYPE_UINT64, &timestamp, "running-time", G_TYPE_UINT64, &running_time,
      "stream-time", G_TYPE_UINT64, &stream_time, "frames", G_TYPE_UINT, &m.frames, "pixels",
      G_TYPE_UINT64, &pixels, "mean", G_TYPE_DOUBLE, &m.mean, "stddev", G_TYPE_DOUBLE, &m.stddev,
      "min", G_TYPE_UINT, &m.min, "max", G_TYPE_UINT, &m.max, "median", G_TYPE_UINT, &m.median,
      "p1", G_TYPE_UINT, &m.p1, "p5", G_TYPE_UINT, &m.p5, "p95", G_TYPE_UINT, &m.p95, "p99",
      G_TYPE_UINT, &m.p99, "clipped-low", G_TYPE_DOUBLE, &m.clipped_low, "clipped-high",
      G_TYPE_DOUBLE, &m.clipped_high, nullptr);
  if (!complete || !read_histogram(s, m.histogram)) return {};
  frame.timestamp = timestamp;
  m.stream_time = stream_time;
  m.pixels = pixels;
  if (running_time != GST_CLOCK_TIME_NONE)
    frame.running_time = static_cast<Time>(running_time / GST_USECOND);
  return frame;
}

}  // namespace luminance
