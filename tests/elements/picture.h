// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures that a test makes and looks at, and their way into buffers and back.
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
extern const std::vector<PixelFormat> kYuvFormats;        ///< of eight bits
extern const std::vector<PixelFormat> kInputFormats;      ///< of cudaletterbox and cudanormalize
extern const std::vector<PixelFormat> kLetterboxFormats;  ///< that cudaletterbox gives

/// Planes without gaps.
class Picture {
 public:
  struct Plane {
    size_t row_bytes;
    int rows;
    Bytes bytes;
  };

  explicit Picture(const ImageDesc &desc, uint8_t fill = 0);
  /// From the bytes of its planes, one after the other.
  Picture(const ImageDesc &desc, const Bytes &bytes);

  const ImageDesc &desc() const { return desc_; }
  std::vector<Plane> &planes() { return planes_; }
  const std::vector<Plane> &planes() const { return planes_; }
  Image view();
  ConstImage view() const;
  /// All planes, one after the other.
  Bytes bytes() const;

 private:
  /// All but those of alpha.
  size_t planes_read() const { return layout_of(desc_.format).planes; }

  ImageDesc desc_;
  std::vector<Plane> planes_;
};

Picture random_picture(const ImageDesc &desc, uint64_t seed = 1);

GstVideoInfo video_info_of(const ImageDesc &desc);
std::string text_of(const ImageDesc &desc);
std::string video_caps(const ImageDesc &desc, const std::string &more = "");

/// How far a buffer departs from the layout that its caps imply.
struct Padding {
  size_t before = 0;          ///< bytes in front of the first plane
  size_t between = 0;         ///< bytes in front of each further plane
  int stride = 0;             ///< bytes behind each row
  bool memory_each = false;   ///< a GstMemory for each plane
  bool upside_down = false;   ///< negative strides: the last row comes first in memory
  int columns = 0, rows = 0;  ///< by which the GstVideoMeta describes a larger picture
};

/// A buffer as its caps imply; what is no sample holds noise.
BufferRef buffer_of(const Picture &picture);
/// A buffer with a GstVideoMeta that speaks of the padding.
BufferRef padded_buffer_of(const Picture &picture, const Padding &padding);
/// A buffer of these bytes, in memories of the given sizes.
BufferRef buffer_of(const Bytes &bytes, const std::vector<size_t> &memories = {});

Bytes bytes_of(GstBuffer *buffer);
/// The samples of a picture, without what lies between rows; all of what its caps call no picture.
Bytes samples_of(GstBuffer *buffer, const GstCaps *caps);
/// Respects the buffer's GstVideoMeta.
Picture picture_of(GstBuffer *buffer, const ImageDesc &desc);
void write_picture(GstBuffer *buffer, const Picture &picture);

testing::AssertionResult same_picture(const Picture &actual, const Picture &expected);

}  // namespace cudatensor
