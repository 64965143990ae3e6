// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/image.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "kernels/error.h"
#include "kernels/immortal.h"

namespace cudatensor {
namespace {

using F = SampleFamily;

// The functions below make layouts for kFormats, a constant: a layout without a family throws,
// which does not compile.

constexpr FormatLayout packed(uint8_t step, uint8_t r, uint8_t g, uint8_t b, uint8_t padding = 0) {
  const F family = step == 3 ? F::packed_rgb3 : F::packed_rgb4;
  return {ColorModel::rgb, family, 1, 3, padding, 0, 0, {{0, r, step}, {0, g, step}, {0, b, step}}};
}

constexpr F planar_family(uint8_t shift_x, uint8_t shift_y) {
  if (shift_x == 0 && shift_y > 0)
    throw std::logic_error("no family has chroma of full width and reduced height");
  return shift_x > 0 ? F::planar_subsampled : F::planar_444;
}

/// `u` and `v` are the indices of the chroma planes.
constexpr FormatLayout planar_yuv(uint8_t shift_x, uint8_t shift_y, uint8_t u = 1, uint8_t v = 2) {
  const F family = planar_family(shift_x, shift_y);
  return {ColorModel::yuv, family, 3, 3, 0, shift_x, shift_y, {{0, 0, 1}, {u, 0, 1}, {v, 0, 1}}};
}

constexpr FormatLayout planar_rgb(uint8_t r, uint8_t g, uint8_t b) {
  return {ColorModel::rgb, F::planar_rgb, 3, 3, 0, 0, 0, {{r, 0, 1}, {g, 0, 1}, {b, 0, 1}}};
}

constexpr FormatLayout semiplanar(uint8_t shift_x, uint8_t shift_y, uint8_t u = 0, uint8_t v = 1) {
  return {
      ColorModel::yuv, F::semiplanar, 2, 3, 0, shift_x, shift_y, {{0, 0, 1}, {1, u, 2}, {1, v, 2}}};
}

/// Makes a layout that stores two pixels in four bytes.
constexpr FormatLayout packed_422(uint8_t y, uint8_t u, uint8_t v) {
  return {ColorModel::yuv, F::packed_422, 1, 3, 0, 1, 0, {{0, y, 2}, {0, u, 4}, {0, v, 4}}};
}

constexpr F deep_family(F family) {
  switch (family) {
    case F::gray: return F::deep_gray;
    case F::planar_444:
    case F::planar_subsampled: return F::deep_planar;
    case F::semiplanar: return F::deep_semiplanar;
    default: throw std::logic_error("the family has no variant with samples of two bytes");
  }
}

/// Whether histograms can count the samples: they read the upper byte, or shift 10 or 12 bits to
/// it.
constexpr bool are_deep_bits(uint8_t bits, uint8_t shift) {
  return bits + shift == 16 || (shift == 0 && (bits == 10 || bits == 12));
}

/// Returns the same layout with samples of two bytes.
constexpr FormatLayout deep(FormatLayout layout, uint8_t bits, uint8_t shift) {
  if (!are_deep_bits(bits, shift))
    throw std::logic_error("no kernel reads samples with these bits and this shift");
  layout.family = deep_family(layout.family);
  for (Component &component : layout.component) {
    component.offset *= 2;
    component.step *= 2;
  }
  layout.bits = bits;
  layout.shift = shift;
  return layout;
}

constexpr FormatLayout k420 = planar_yuv(1, 1), k422 = planar_yuv(1, 0), k444 = planar_yuv(0, 0);
constexpr FormatLayout kGray = {ColorModel::gray, F::gray, 1, 1, 0, 0, 0, {{0, 0, 1}, {}, {}}};

struct Format {
  PixelFormat format;
  const char *name;
  FormatLayout layout;
};

/// All formats, in the order of PixelFormat.
constexpr Format kFormats[] = {
    {PixelFormat::BGR, "BGR", packed(3, 2, 1, 0)},
    {PixelFormat::RGB, "RGB", packed(3, 0, 1, 2)},
    {PixelFormat::BGRx, "BGRx", packed(4, 2, 1, 0, 3)},
    {PixelFormat::RGBx, "RGBx", packed(4, 0, 1, 2, 3)},
    {PixelFormat::BGRA, "BGRA", packed(4, 2, 1, 0, 3)},
    {PixelFormat::RGBA, "RGBA", packed(4, 0, 1, 2, 3)},
    {PixelFormat::xBGR, "xBGR", packed(4, 3, 2, 1, 0)},
    {PixelFormat::xRGB, "xRGB", packed(4, 1, 2, 3, 0)},
    {PixelFormat::ABGR, "ABGR", packed(4, 3, 2, 1, 0)},
    {PixelFormat::ARGB, "ARGB", packed(4, 1, 2, 3, 0)},
    {PixelFormat::RGBP, "RGBP", planar_rgb(0, 1, 2)},
    {PixelFormat::BGRP, "BGRP", planar_rgb(2, 1, 0)},
    {PixelFormat::GBR, "GBR", planar_rgb(2, 0, 1)},
    {PixelFormat::NV12, "NV12", semiplanar(1, 1)},
    {PixelFormat::NV21, "NV21", semiplanar(1, 1, 1, 0)},
    {PixelFormat::I420, "I420", k420},
    {PixelFormat::YV12, "YV12", planar_yuv(1, 1, 2, 1)},
    {PixelFormat::A420, "A420", k420},
    {PixelFormat::AV12, "AV12", semiplanar(1, 1)},
    {PixelFormat::Y444, "Y444", k444},
    {PixelFormat::NV24, "NV24", semiplanar(0, 0)},
    {PixelFormat::YUY2, "YUY2", packed_422(0, 1, 3)},
    {PixelFormat::UYVY, "UYVY", packed_422(1, 0, 2)},
    {PixelFormat::YVYU, "YVYU", packed_422(0, 3, 1)},
    {PixelFormat::Y42B, "Y42B", k422},
    {PixelFormat::NV16, "NV16", semiplanar(1, 0)},
    {PixelFormat::NV61, "NV61", semiplanar(1, 0, 1, 0)},
    {PixelFormat::Y41B, "Y41B", planar_yuv(2, 0)},
    {PixelFormat::P010_10LE, "P010_10LE", deep(semiplanar(1, 1), 10, 6)},
    {PixelFormat::P012_LE, "P012_LE", deep(semiplanar(1, 1), 12, 4)},
    {PixelFormat::P016_LE, "P016_LE", deep(semiplanar(1, 1), 16, 0)},
    {PixelFormat::I420_10LE, "I420_10LE", deep(k420, 10, 0)},
    {PixelFormat::A420_10LE, "A420_10LE", deep(k420, 10, 0)},
    {PixelFormat::I420_12LE, "I420_12LE", deep(k420, 12, 0)},
    {PixelFormat::I422_10LE, "I422_10LE", deep(k422, 10, 0)},
    {PixelFormat::A422_10LE, "A422_10LE", deep(k422, 10, 0)},
    {PixelFormat::I422_12LE, "I422_12LE", deep(k422, 12, 0)},
    {PixelFormat::Y444_10LE, "Y444_10LE", deep(k444, 10, 0)},
    {PixelFormat::A444_10LE, "A444_10LE", deep(k444, 10, 0)},
    {PixelFormat::Y444_12LE, "Y444_12LE", deep(k444, 12, 0)},
    {PixelFormat::Y444_16LE, "Y444_16LE", deep(k444, 16, 0)},
    {PixelFormat::GRAY8, "GRAY8", kGray},
    {PixelFormat::GRAY16_LE, "GRAY16_LE", deep(kGray, 16, 0)},
};

constexpr bool are_by_number() {
  for (size_t i = 0; i < std::size(kFormats); ++i)
    if (static_cast<size_t>(kFormats[i].format) != i) return false;
  return true;
}
static_assert(are_by_number());

const Format &row_of(PixelFormat format) {
  const auto i = static_cast<size_t>(format);
  if (i < std::size(kFormats)) return kFormats[i];
  throw Error(Error::Code::input, "unknown pixel format");
}

}  // namespace

const std::vector<PixelFormat> &all_formats() {
  static const auto &all = immortal([] {
    std::vector<PixelFormat> formats;
    for (const Format &row : kFormats) formats.push_back(row.format);
    return formats;
  });
  return all;
}

const FormatLayout &layout_of(PixelFormat format) { return row_of(format).layout; }
const char *name_of(PixelFormat format) { return row_of(format).name; }

PlaneSize plane_size(const ImageDesc &image, int plane) {
  const FormatLayout &layout = layout_of(image.format);
  PlaneSize size = {0, 0};
  for (int c = 0; c < layout.components; ++c) {
    if (layout.component[c].plane != plane) continue;
    const auto width = component_length(layout.chroma_shift_x, c, image.width);
    const auto height = component_length(layout.chroma_shift_y, c, image.height);
    size = {std::max(size.row, static_cast<size_t>(width) * layout.component[c].step),
            static_cast<size_t>(height)};
  }
  return size;
}

}  // namespace cudatensor
