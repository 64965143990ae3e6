// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture.h"

#include <algorithm>

namespace cudatensor {

const std::vector<PixelFormat> kPackedFormats = {
    PixelFormat::BGR,  PixelFormat::RGB,  PixelFormat::BGRx, PixelFormat::RGBx, PixelFormat::BGRA,
    PixelFormat::RGBA, PixelFormat::xBGR, PixelFormat::xRGB, PixelFormat::ABGR, PixelFormat::ARGB};
const std::vector<PixelFormat> kYuv420Formats = {PixelFormat::NV12, PixelFormat::NV21,
                                                 PixelFormat::I420, PixelFormat::YV12};

namespace {

std::vector<PixelFormat> joined(std::vector<PixelFormat> formats,
                                const std::vector<PixelFormat> &more) {
  formats.insert(formats.end(), more.begin(), more.end());
  return formats;
}

template <class Holds>
std::vector<PixelFormat> formats_that(const Holds &holds) {
  std::vector<PixelFormat> formats;
  for (const PixelFormat format : all_formats())
    if (holds(layout_of(format))) formats.push_back(format);
  return formats;
}

}  // namespace

const std::vector<PixelFormat> kYuvFormats = formats_that([](const FormatLayout &layout) {
  return layout.model == ColorModel::yuv && !layout.is_deep();
});
const std::vector<PixelFormat> kInputFormats = all_formats();
const std::vector<PixelFormat> kLetterboxFormats =
    joined(kPackedFormats, {PixelFormat::RGBP, PixelFormat::BGRP, PixelFormat::GRAY8});

GstVideoInfo video_info_of(const ImageDesc &desc) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(name_of(desc.format)),
                            static_cast<guint>(desc.width), static_cast<guint>(desc.height));
  return info;
}

std::string text_of(const ImageDesc &desc) {
  return std::string(name_of(desc.format)) + " " + std::to_string(desc.width) + "x" +
         std::to_string(desc.height);
}

std::string video_caps(const ImageDesc &desc, const std::string &more) {
  return std::string("video/x-raw,format=") + name_of(desc.format) +
         ",width=" + std::to_string(desc.width) + ",height=" + std::to_string(desc.height) +
         ",framerate=30/1" + (more.empty() ? "" : "," + more);
}

namespace {

/// Returns which bytes of a plane are samples, according to GStreamer, not the kernels.
Picture::Plane plane_of(const GstVideoInfo &info, guint plane) {
  Picture::Plane result = {0, 0, {}};
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    if (GST_VIDEO_INFO_COMP_PLANE(&info, c) != plane) continue;
    const int width = GST_VIDEO_INFO_COMP_WIDTH(&info, c);
    result.row_bytes = std::max(result.row_bytes,
                                static_cast<size_t>(width) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, c));
    result.rows = GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
  }
  result.bytes.resize(result.row_bytes * static_cast<size_t>(result.rows));
  return result;
}

}  // namespace

Picture::Picture(const ImageDesc &desc, uint8_t fill) : desc_(desc) {
  const GstVideoInfo info = video_info_of(desc);
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(&info); ++i) {
    planes_.push_back(plane_of(info, i));
    std::fill(planes_[i].bytes.begin(), planes_[i].bytes.end(), fill);
  }
}

Picture::Picture(const ImageDesc &desc, const Bytes &bytes) : Picture(desc) {
  size_t begin = 0;
  for (Plane &plane : planes_) {
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(begin), plane.bytes.size(),
                plane.bytes.begin());
    begin += plane.bytes.size();
  }
  EXPECT_EQ(begin, bytes.size()) << text_of(desc);
}

Image Picture::view() {
  Image image = {desc_, {}};
  for (size_t i = 0; i < planes_read(); ++i)
    image.planes[i] = {planes_[i].bytes.data(), static_cast<ptrdiff_t>(planes_[i].row_bytes)};
  return image;
}

ConstImage Picture::view() const {
  ConstImage image = {desc_, {}};
  for (size_t i = 0; i < planes_read(); ++i)
    image.planes[i] = {planes_[i].bytes.data(), static_cast<ptrdiff_t>(planes_[i].row_bytes)};
  return image;
}

Bytes Picture::bytes() const {
  Bytes all;
  for (const Plane &plane : planes_) all.insert(all.end(), plane.bytes.begin(), plane.bytes.end());
  return all;
}

Picture random_picture(const ImageDesc &desc, uint64_t seed) {
  return Picture(desc, noise(Picture(desc).bytes().size(), seed));
}

namespace {

Bytes row_of(const Picture::Plane &plane, int y) {
  const auto begin = plane.bytes.begin() + static_cast<ptrdiff_t>(plane.row_bytes) * y;
  return Bytes(begin, begin + static_cast<ptrdiff_t>(plane.row_bytes));
}

/// Where the planes lie in a buffer.
struct PlaneLayout {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  gsize size = 0;
  std::vector<size_t> memories;  ///< empty for one memory
};

Bytes laid_out(const Picture &picture, const PlaneLayout &layout) {
  Bytes bytes = noise(layout.size, 99);
  for (size_t i = 0; i < picture.planes().size(); ++i)
    for (int y = 0; y < picture.planes()[i].rows; ++y) {
      const Bytes row = row_of(picture.planes()[i], y);
      const auto at = static_cast<ptrdiff_t>(layout.offset[i]) + ptrdiff_t{layout.stride[i]} * y;
      std::copy(row.begin(), row.end(), bytes.begin() + at);
    }
  return bytes;
}

PlaneLayout layout_for(const Picture &picture, const Padding &padding) {
  PlaneLayout layout;
  for (size_t i = 0; i < picture.planes().size(); ++i) {
    const Picture::Plane &plane = picture.planes()[i];
    const size_t begin = layout.size;
    layout.stride[i] = static_cast<gint>(plane.row_bytes) + padding.stride;
    layout.offset[i] = begin + (i == 0 ? padding.before : padding.between);
    // The last row ends with its last sample, so that reads beyond it are detected.
    layout.size = layout.offset[i] +
                  static_cast<size_t>(layout.stride[i]) * static_cast<size_t>(plane.rows - 1) +
                  plane.row_bytes;
    if (padding.memory_each) layout.memories.push_back(layout.size - begin);
    if (!padding.upside_down) continue;
    layout.offset[i] += static_cast<size_t>(layout.stride[i]) * static_cast<size_t>(plane.rows - 1);
    layout.stride[i] = -layout.stride[i];
  }
  return layout;
}

}  // namespace

BufferRef buffer_of(const Picture &picture) {
  const GstVideoInfo info = video_info_of(picture.desc());
  PlaneLayout layout;
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(&info); ++i) {
    layout.offset[i] = GST_VIDEO_INFO_PLANE_OFFSET(&info, i);
    layout.stride[i] = GST_VIDEO_INFO_PLANE_STRIDE(&info, i);
  }
  layout.size = GST_VIDEO_INFO_SIZE(&info);
  return buffer_of(laid_out(picture, layout));
}

BufferRef padded_buffer_of(const Picture &picture, const Padding &padding) {
  PlaneLayout layout = layout_for(picture, padding);
  BufferRef buffer = buffer_of(laid_out(picture, layout), layout.memories);
  const GstVideoInfo info =
      video_info_of({picture.desc().format, picture.desc().width + padding.columns,
                     picture.desc().height + padding.rows});
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_WIDTH(&info),
                                 GST_VIDEO_INFO_HEIGHT(&info), GST_VIDEO_INFO_N_PLANES(&info),
                                 layout.offset, layout.stride);
  return buffer;
}

BufferRef buffer_of(const Bytes &bytes, const std::vector<size_t> &memories) {
  BufferRef buffer(gst_buffer_new());
  size_t begin = 0;
  for (const size_t size : memories.empty() ? std::vector<size_t>{bytes.size()} : memories) {
    GstMemory *memory = gst_allocator_alloc(nullptr, size, nullptr);
    GstMapInfo map;
    gst_memory_map(memory, &map, GST_MAP_WRITE);
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(begin), size, map.data);
    gst_memory_unmap(memory, &map);
    gst_buffer_append_memory(buffer.get(), memory);
    begin += size;
  }
  GST_BUFFER_PTS(buffer.get()) = 0;
  return buffer;
}

Bytes bytes_of(GstBuffer *buffer) {
  Bytes bytes(gst_buffer_get_size(buffer));
  if (!bytes.empty()) gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

namespace {

/// Calls `visit` with each row of a buffer's picture, and with where it is in `picture`.
template <class PictureType, class Visit>
void for_rows(GstBuffer *buffer, PictureType &picture, GstMapFlags flags, const Visit &visit) {
  const GstVideoInfo info = video_info_of(picture.desc());
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, flags)) {
    ADD_FAILURE() << "a buffer of " << gst_buffer_get_size(buffer) << " bytes is no "
                  << text_of(picture.desc());
    return;
  }
  for (size_t i = 0; i < picture.planes().size(); ++i) {
    auto &plane = picture.planes()[i];
    auto *data = static_cast<uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, i));
    for (int y = 0; y < plane.rows; ++y)
      visit(data + ptrdiff_t{GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i)} * y,
            plane.bytes.begin() + static_cast<ptrdiff_t>(plane.row_bytes) * y, plane.row_bytes);
  }
  gst_video_frame_unmap(&frame);
}

}  // namespace

Picture picture_of(GstBuffer *buffer, const ImageDesc &desc) {
  Picture picture(desc);
  for_rows(buffer, picture, GST_MAP_READ,
           [](const uint8_t *row, auto bytes, size_t size) { std::copy_n(row, size, bytes); });
  return picture;
}

Bytes samples_of(GstBuffer *buffer, const GstCaps *caps) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return bytes_of(buffer);
  for (const PixelFormat format : kInputFormats)
    if (g_str_equal(name_of(format), GST_VIDEO_INFO_NAME(&info)))
      return picture_of(buffer, {format, info.width, info.height}).bytes();
  ADD_FAILURE() << "no pictures of format " << GST_VIDEO_INFO_NAME(&info);
  return {};
}

void write_picture(GstBuffer *buffer, const Picture &picture) {
  for_rows(buffer, picture, GST_MAP_WRITE,
           [](uint8_t *row, auto bytes, size_t size) { std::copy_n(bytes, size, row); });
}

testing::AssertionResult same_picture(const Picture &actual, const Picture &expected) {
  if (text_of(actual.desc()) != text_of(expected.desc()))
    return testing::AssertionFailure()
           << text_of(actual.desc()) << " instead of " << text_of(expected.desc());
  for (size_t i = 0; i < expected.planes().size(); ++i) {
    const auto same = same_bytes(actual.planes()[i].bytes, expected.planes()[i].bytes);
    if (!same)
      return testing::AssertionFailure()
             << text_of(expected.desc()) << ", plane " << i << " with rows of "
             << expected.planes()[i].row_bytes << " bytes: " << same.message();
  }
  return testing::AssertionSuccess();
}

}  // namespace cudatensor
