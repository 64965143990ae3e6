// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scenerig.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "capture/thumbnail.h"

namespace luminance::test {
namespace {

double luma_at(const Picture &scene, int x, int y) {
  x = std::clamp(x, 0, kPictureWidth - 1), y = std::clamp(y, 0, kPictureHeight - 1);
  return scene[static_cast<size_t>(y * kPictureWidth + x)];
}

/// Returns a line of gray pixels in GStreamer's unpacked layout: alpha and three components.
template <class Sample, class Value>
std::vector<Sample> line_of(size_t width, const Value &value) {
  std::vector<Sample> line(4 * width);
  for (size_t x = 0; x < width; ++x) std::fill_n(&line[4 * x], 4, static_cast<Sample>(value(x)));
  return line;
}

template <class Sample>
void pack(GstVideoFrame &frame, size_t y, std::vector<Sample> line) {
  const GstVideoFormatInfo *const format = frame.info.finfo;
  format->pack_func(format, GST_VIDEO_PACK_FLAG_NONE, line.data(), 0, frame.data, frame.info.stride,
                    frame.info.chroma_site, static_cast<gint>(y), frame.info.width);
}

GstBuffer *filled(const GstVideoInfo &info,
                  const std::function<uint8_t(size_t x, size_t y)> &luma) {
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 128, info.size);
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE))
    throw std::runtime_error("a frame cannot be mapped");
  const GstVideoFormatInfo *const format = info.finfo;
  const bool is_deep =
      GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(format->unpack_format), 0) > 8;
  const auto width = static_cast<size_t>(info.width);
  for (size_t y = 0; y < static_cast<size_t>(info.height); ++y)
    if (is_deep)
      pack(frame, y, line_of<uint16_t>(width, [&](size_t x) { return luma(x, y) * 257; }));
    else
      pack(frame, y, line_of<uint8_t>(width, [&](size_t x) { return luma(x, y); }));
  gst_video_frame_unmap(&frame);
  return buffer;
}

}  // namespace

Picture scene_of(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  Picture scene(static_cast<size_t>(kPictureWidth) * kPictureHeight, 120);
  for (int box = 0; box < 600; ++box) {
    const int left = below(kPictureWidth), top = below(kPictureHeight), luma = 40 + below(160);
    const int right = std::min(kPictureWidth, left + 8 + below(140));
    const int bottom = std::min(kPictureHeight, top + 8 + below(140));
    for (int y = top; y < bottom; ++y)
      std::fill(&scene[static_cast<size_t>(y * kPictureWidth + left)],
                &scene[static_cast<size_t>(y * kPictureWidth + right - 1)] + 1, luma);
  }
  return scene;
}

double usual(const Picture &scene, int x, int y) { return luma_at(scene, x, y); }
double flat(const Picture &, int, int) { return 100; }
double dark(const Picture &scene, int x, int y) { return 17 + luma_at(scene, x, y) / 200; }
double shifted(const Picture &scene, int x, int y) { return luma_at(scene, x + 40, y); }
double covered(const Picture &scene, int x, int y) {
  return x < 2 * kPictureWidth / 5 ? 90 : luma_at(scene, x, y);
}
double blurred(const Picture &scene, int x, int y) {
  double sum = 0;
  for (int dy = -4; dy <= 4; dy += 2)
    for (int dx = -4; dx <= 4; dx += 2) sum += luma_at(scene, x + dx, y + dy);
  return sum / 25;
}

Thumb thumbnail_in(GstVideoFormat format, int width, int height,
                   const std::function<uint8_t(size_t x, size_t y)> &luma, const Region &region) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, static_cast<guint>(width), static_cast<guint>(height));
  GstBuffer *buffer = filled(info, luma);
  Thumb thumbnail = thumbnail_of(
      buffer, info,
      pixels_of(cutout_of(region), static_cast<size_t>(width), static_cast<size_t>(height)));
  gst_buffer_unref(buffer);
  return thumbnail;
}

Thumb thumbnail_seen(const Picture &scene, const PictureChange &change, std::mt19937 &random,
                     const Region &region) {
  std::normal_distribution<double> noise(0, 1);
  std::vector<uint8_t> picture(scene.size());
  for (int y = 0; y < kPictureHeight; ++y)
    for (int x = 0; x < kPictureWidth; ++x)
      picture[static_cast<size_t>(y * kPictureWidth + x)] =
          static_cast<uint8_t>(std::clamp(change(scene, x, y) + noise(random), 0.0, 255.0));
  return thumbnail_in(
      GST_VIDEO_FORMAT_GRAY8, kPictureWidth, kPictureHeight,
      [&](size_t x, size_t y) { return picture[y * kPictureWidth + x]; }, region);
}

}  // namespace luminance::test
