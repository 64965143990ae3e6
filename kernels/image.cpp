// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/image.h"

#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr FormatLayout packed(uint8_t step, uint8_t r, uint8_t g, uint8_t b, uint8_t padding = 0) {
  return {ColorModel::rgb, 1, 3, padding, false, {{0, r, step}, {0, g, step}, {0, b, step}}};
}

/// Three planes; `p0`, `p1` and `p2` are the plane indices of R, G and B or of Y, U and V.
constexpr FormatLayout planar(ColorModel model, bool subsampled, uint8_t p0, uint8_t p1,
                              uint8_t p2) {
  return {model, 3, 3, 0, subsampled, {{p0, 0, 1}, {p1, 0, 1}, {p2, 0, 1}}};
}

constexpr FormatLayout semiplanar(uint8_t u, uint8_t v) {
  return {ColorModel::yuv, 2, 3, 0, true, {{0, 0, 1}, {1, u, 2}, {1, v, 2}}};
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
    case PixelFormat::RGBP: return planar(ColorModel::rgb, false, 0, 1, 2);
    case PixelFormat::BGRP: return planar(ColorModel::rgb, false, 2, 1, 0);
    case PixelFormat::NV12: return semiplanar(0, 1);
    case PixelFormat::NV21: return semiplanar(1, 0);
    case PixelFormat::I420: return planar(ColorModel::yuv, true, 0, 1, 2);
    case PixelFormat::YV12: return planar(ColorModel::yuv, true, 0, 2, 1);
    case PixelFormat::Y444: return planar(ColorModel::yuv, false, 0, 1, 2);
    // Little endian, ten bits in the high bits of sixteen, so the second byte holds the upper eight
    // bits.
    case PixelFormat::P010_10LE:
      return {ColorModel::yuv, 2, 3, 0, true, {{0, 1, 2}, {1, 1, 4}, {1, 3, 4}}};
    case PixelFormat::GRAY8: return {ColorModel::gray, 1, 1, 0, false, {{0, 0, 1}, {}, {}}};
  }
  throw Error(Error::Code::input, "unknown pixel format");
}

PlaneSize plane_size(const ImageDesc &image, int plane) {
  const FormatLayout layout = layout_of(image.format);
  for (int c = 0; c < layout.components; ++c) {
    if (layout.component[c].plane != plane) continue;
    const auto width = component_length(layout.subsampled, c, image.width);
    const auto height = component_length(layout.subsampled, c, image.height);
    return {static_cast<size_t>(width) * layout.component[c].step, static_cast<size_t>(height)};
  }
  return {0, 0};
}

const char *name_of(PixelFormat format) {
  static const char *const names[] = {"BGR",  "RGB",  "BGRx", "RGBx",      "BGRA", "RGBA", "xBGR",
                                      "xRGB", "ABGR", "ARGB", "RGBP",      "BGRP", "NV12", "NV21",
                                      "I420", "YV12", "Y444", "P010_10LE", "GRAY8"};
  return names[static_cast<size_t>(format)];
}

}  // namespace cudatensor
