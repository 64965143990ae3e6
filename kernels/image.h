// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "kernels/hostdevice.h"

namespace cudatensor {

/// Maximum width and height of a picture, in pixels.
constexpr int kMaxImageSize = 32767;

/// Pixel formats, with GStreamer's names.
enum class PixelFormat : uint8_t {
  BGR,
  RGB,
  BGRx,
  RGBx,
  BGRA,
  RGBA,
  xBGR,
  xRGB,
  ABGR,
  ARGB,  // packed
  RGBP,
  BGRP,
  GBR,  // planar
  NV12,
  NV21,
  I420,
  YV12,
  A420,
  AV12,  // 4:2:0
  Y444,
  NV24,  // 4:4:4
  YUY2,
  UYVY,
  YVYU,
  Y42B,
  NV16,
  NV61,  // 4:2:2
  Y41B,  // 4:1:1
  P010_10LE,
  P012_LE,
  P016_LE,
  I420_10LE,
  A420_10LE,
  I420_12LE,  // 4:2:0 of more than eight bits
  I422_10LE,
  A422_10LE,
  I422_12LE,  // 4:2:2 of more than eight bits
  Y444_10LE,
  A444_10LE,
  Y444_12LE,
  Y444_16LE,  // 4:4:4 of more than eight bits
  GRAY8,
  GRAY16_LE,
};

enum class ColorModel : uint8_t { rgb, yuv, gray };

/// The memory layout of one component of a picture.
struct Component {
  uint8_t plane;   ///< index of its plane
  uint8_t offset;  ///< offset of the first sample in bytes
  uint8_t step;    ///< distance from a sample to its right neighbor, in bytes
};

/// The arrangement of a picture's samples, which selects the code that reads them. Each selection,
/// on both backends, is a switch over all families without a default, so that the compiler reports
/// a new family that a switch does not handle.
enum class SampleFamily : uint8_t {
  gray,
  packed_rgb3,  ///< three bytes a pixel
  packed_rgb4,  ///< four bytes a pixel
  planar_rgb,
  planar_444,
  planar_subsampled,  ///< chroma of reduced width
  semiplanar,         ///< U and V in one plane, any subsampling
  packed_422,
  // Two bytes per sample:
  deep_gray,
  deep_planar,  ///< any subsampling
  deep_semiplanar,
};

constexpr bool is_packed_rgb(SampleFamily family) {
  return family == SampleFamily::packed_rgb3 || family == SampleFamily::packed_rgb4;
}

/// The properties of a pixel format.
struct FormatLayout {
  ColorModel model;
  SampleFamily family;
  uint8_t planes;          ///< number of planes; planes of alpha are not counted and not read
  uint8_t components;      ///< number of color components: 1 or 3, in the order R G B or Y U V
  uint8_t padding_offset;  ///< offset of the x or A byte in a packed four-byte pixel
  uint8_t
      chroma_shift_x;  ///< components 1 and 2 have the width over 2^chroma_shift_x, rounded up …
  uint8_t chroma_shift_y;  ///< … and the height over 2^chroma_shift_y
  Component component[3];
  uint8_t bits = 8;   ///< bits of a sample; more than eight are in two bytes, low byte first
  uint8_t shift = 0;  ///< number of unused low bits in those two bytes

  bool is_deep() const { return bits > 8; }
  /// Whether chroma has half the width and half the height.
  bool is_420() const { return chroma_shift_x == 1 && chroma_shift_y == 1; }
  /// The mask of the sample's bits in its one or two bytes.
  uint32_t mask() const { return ((1u << bits) - 1) << shift; }
};

/// All pixel formats, each once.
const std::vector<PixelFormat> &all_formats();

const FormatLayout &layout_of(PixelFormat format);
const char *name_of(PixelFormat format);

/// Describes a picture without its memory.
struct ImageDesc {
  PixelFormat format;
  int width;   ///< pixels
  int height;  ///< pixels
};

inline bool operator==(const ImageDesc &a, const ImageDesc &b) {
  return a.format == b.format && a.width == b.width && a.height == b.height;
}

/// Returns the length of component `c` along an axis, in samples: `length`, for chroma divided by
/// 2^chroma_shift and rounded up.
constexpr int component_length(int chroma_shift, int c, int length) {
  return c > 0 ? (length + (1 << chroma_shift) - 1) >> chroma_shift : length;
}

/// The size of a plane.
struct PlaneSize {
  size_t row;  ///< bytes of a row, up to the end of its last sample
  size_t rows;
};

/// Returns the size of a plane; {0, 0} if the picture has no such plane.
PlaneSize plane_size(const ImageDesc &image, int plane);

/// A non-owning view of a picture, passed by value. Strides are in bytes and may exceed the row
/// length.
template <class Byte>
struct BasicImage {
  struct Plane {
    Byte *data;
    ptrdiff_t stride;
  };
  ImageDesc desc;
  Plane planes[3];

  Byte *row(const Component &component, int y) const {
    const Plane &plane = planes[component.plane];
    return plane.data + plane.stride * y + component.offset;
  }
};

using Image = BasicImage<uint8_t>;
using ConstImage = BasicImage<const uint8_t>;

/// Whether two views are of the same memory.
inline bool is_same_view(const ConstImage &a, const ConstImage &b) {
  return a.desc == b.desc && std::equal(std::begin(a.planes), std::end(a.planes),
                                        std::begin(b.planes), [](const auto &p, const auto &q) {
                                          return p.data == q.data && p.stride == q.stride;
                                        });
}

struct Rect {
  int x, y, width, height;
};

}  // namespace cudatensor
