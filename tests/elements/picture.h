// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures for tests, and their conversion to and from buffers.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <string>
#include <vector>

#include "bytes.h"
#include "kernels/image.h"
#include "refs.h"

namespace cudatensor {

extern const std::vector<PixelFormat> kPackedFormats;
extern const std::vector<PixelFormat> kYuv420Formats;
extern const std::vector<PixelFormat> kYuvFormats;        ///< formats of eight bits
extern const std::vector<PixelFormat> kInputFormats;      ///< of cudaletterbox and cudanormalize
extern const std::vector<PixelFormat> kLetterboxFormats;  ///< outputs of cudaletterbox

/// A picture whose planes have no gaps.
class Picture {
 public:
  struct Plane {
    size_t row_bytes;
    int rows;
    Bytes bytes;
  };

  explicit Picture(const ImageDesc &desc, uint8_t fill = 0);
  /// Makes a picture from the bytes of its planes, one after the other.
  Picture(const ImageDesc &desc, const Bytes &bytes);

  const ImageDesc &desc() const { return desc_; }
  std::vector<Plane> &planes() { return planes_; }
  const std::vector<Plane> &planes() const { return planes_; }
  Image view();
  ConstImage view() const;
  /// Returns the bytes of all planes, one after the other.
  Bytes bytes() const;

 private:
  /// Returns the number of planes without alpha.
  size_t planes_read() const { return layout_of(desc_.format).planes; }

  ImageDesc desc_;
  std::vector<Plane> planes_;
};

Picture random_picture(const ImageDesc &desc, uint64_t seed = 1);

GstVideoInfo video_info_of(const ImageDesc &desc);
std::string text_of(const ImageDesc &desc);
std::string video_caps(const ImageDesc &desc, const std::string &more = "");

/// Differences of a buffer from the layout that its caps imply.
struct Padding {
  size_t before = 0;          ///< bytes in front of the first plane
  size_t between = 0;         ///< bytes in front of each further plane
  int stride = 0;             ///< bytes behind each row
  bool memory_each = false;   ///< a GstMemory for each plane
  bool upside_down = false;   ///< negative strides: the last row comes first in memory
  int columns = 0, rows = 0;  ///< added to the picture's size in the GstVideoMeta
};

/// Returns a buffer with the layout that its caps imply; bytes that are no samples hold noise.
BufferRef buffer_of(const Picture &picture);
/// Returns a buffer with a GstVideoMeta that describes the padding.
BufferRef padded_buffer_of(const Picture &picture, const Padding &padding);
/// Returns a buffer of these bytes, in memories of the given sizes.
BufferRef buffer_of(const Bytes &bytes, const std::vector<size_t> &memories = {});

Bytes bytes_of(GstBuffer *buffer);
/// Returns a picture's samples without padding, or all bytes if the caps are not of a picture.
Bytes samples_of(GstBuffer *buffer, const GstCaps *caps);
/// Reads a buffer's picture; respects its GstVideoMeta.
Picture picture_of(GstBuffer *buffer, const ImageDesc &desc);
void write_picture(GstBuffer *buffer, const Picture &picture);

testing::AssertionResult same_picture(const Picture &actual, const Picture &expected);

}  // namespace cudatensor
