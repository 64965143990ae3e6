// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/image.h"

#include <algorithm>

#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr FormatLayout packed(uint8_t step, uint8_t r, uint8_t g, uint8_t b, uint8_t padding = 0) {
  return {ColorModel::rgb, 1, 3, padding, false, false, {{0, r, step}, {0, g, step}, {0, b, step}}};
}

/// Three planes; `p0`, `p1` and `p2` are the plane indices of R, G and B or of Y, U and V.
constexpr FormatLayout planar(ColorModel model, bool subsampled_x, bool subsampled_y, uint8_t p0,
                              uint8_t p1, uint8_t p2) {
  return {model, 3, 3, 0, subsampled_x, subsampled_y, {{p0, 0, 1}, {p1, 0, 1}, {p2, 0, 1}}};
}

constexpr FormatLayout planar_rgb(uint8_t r, uint8_t g, uint8_t b) {
  return planar(ColorModel::rgb, false, false, r, g, b);
}

constexpr FormatLayout semiplanar(bool subsampled_y, uint8_t u, uint8_t v) {
  return {ColorModel::yuv, 2, 3, 0, true, subsampled_y, {{0, 0, 1}, {1, u, 2}, {1, v, 2}}};
}

/// Two pixels in four bytes.
constexpr FormatLayout packed_422(uint8_t y, uint8_t u, uint8_t v) {
  return {ColorModel::yuv, 1, 3, 0, true, false, {{0, y, 2}, {0, u, 4}, {0, v, 4}}};
}

/// The same with samples of two bytes.
constexpr FormatLayout deep(FormatLayout layout, uint8_t bits, uint8_t shift) {
  for (Component &component : layout.component) {
    component.offset *= 2;
    component.step *= 2;
  }
  layout.bits = bits;
  layout.shift = shift;
  return layout;
}

}  // namespace

FormatLayout layout_of(PixelFormat format) {
  switch (format) {
    case PixelFormat::BGR: return packed(3, 2, 1, 0);
    case PixelFormat::RGB: return packed(3, 0, 1, 2);
    case PixelFormat::BGRx:
    case PixelFormat::BGRA: return packed(4, 2, 1, 0, 3);
    case PixelFormat::RGBx:
    case PixelFormat::RGBA: return packed(4, 0, 1, 2, 3);
    case PixelFormat::xBGR:
    case PixelFormat::ABGR: return packed(4, 3, 2, 1, 0);
    case PixelFormat::xRGB:
    case PixelFormat::ARGB: return packed(4, 1, 2, 3, 0);
    case PixelFormat::RGBP: return planar_rgb(0, 1, 2);
    case PixelFormat::BGRP: return planar_rgb(2, 1, 0);
    case PixelFormat::GBR: return planar_rgb(2, 0, 1);
    case PixelFormat::NV12: return semiplanar(true, 0, 1);
    case PixelFormat::NV21: return semiplanar(true, 1, 0);
    case PixelFormat::I420: return planar(ColorModel::yuv, true, true, 0, 1, 2);
    case PixelFormat::YV12: return planar(ColorModel::yuv, true, true, 0, 2, 1);
    case PixelFormat::Y444: return planar(ColorModel::yuv, false, false, 0, 1, 2);
    case PixelFormat::YUY2: return packed_422(0, 1, 3);
    case PixelFormat::UYVY: return packed_422(1, 0, 2);
    case PixelFormat::YVYU: return packed_422(0, 3, 1);
    case PixelFormat::Y42B: return planar(ColorModel::yuv, true, false, 0, 1, 2);
    case PixelFormat::NV16: return semiplanar(false, 0, 1);
    case PixelFormat::P010_10LE: return deep(semiplanar(true, 0, 1), 10, 6);
    case PixelFormat::P016_LE: return deep(semiplanar(true, 0, 1), 16, 0);
    case PixelFormat::I420_10LE: return deep(planar(ColorModel::yuv, true, true, 0, 1, 2), 10, 0);
    case PixelFormat::GRAY8: return {ColorModel::gray, 1, 1, 0, false, false, {{0, 0, 1}, {}, {}}};
  }
  throw Error(Error::Code::input, "unknown pixel format");
}

PlaneSize plane_size(const ImageDesc &image, int plane) {
  const FormatLayout layout = layout_of(image.format);
  PlaneSize size = {0, 0};
  for (int c = 0; c < layout.components; ++c) {
    if (layout.component[c].plane != plane) continue;
    const auto width = component_length(layout.subsampled_x, c, image.width);
    const auto height = component_length(layout.subsampled_y, c, image.height);
    size = {std::max(size.row, static_cast<size_t>(width) * layout.component[c].step),
            static_cast<size_t>(height)};
  }
  return size;
}

const char *name_of(PixelFormat format) {
  static const char *const names[] = {
      "BGR",  "RGB",  "BGRx", "RGBx", "BGRA", "RGBA",      "xBGR",    "xRGB",      "ABGR",
      "ARGB", "RGBP", "BGRP", "GBR",  "NV12", "NV21",      "I420",    "YV12",      "Y444",
      "YUY2", "UYVY", "YVYU", "Y42B", "NV16", "P010_10LE", "P016_LE", "I420_10LE", "GRAY8"};
  return names[static_cast<size_t>(format)];
}

}  // namespace cudatensor
