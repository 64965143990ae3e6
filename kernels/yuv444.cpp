// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/yuv444.h"

#include "kernels/error.h"

namespace cudatensor {
namespace {

void check_crop(const char *axis, int crop, int length, int resized) {
  if (crop >= 0 && crop <= resized - length) return;
  throw Error(Error::Code::settings, std::string("crop-") + axis + "=" + std::to_string(crop) +
                                         " with an output of " + std::to_string(length) +
                                         " pixels extends beyond the resized picture of " +
                                         std::to_string(resized));
}

/// Returns the resize and crop as a map from source to output.
Geometry geometry_of(const Yuv444Params &p) {
  const ImageDesc in = seen(p.in, p.direction);
  Geometry g = make_geometry({}, in.width, in.height, p.region.value_or(whole(in)), p.resize_width,
                             p.resize_height);
  g.dst_width = g.content_width = p.out.width;
  g.dst_height = g.content_height = p.out.height;
  g.direction = p.direction;
  g.tx -= p.crop_x;
  g.ty -= p.crop_y;
  return g;
}

}  // namespace

Yuv444Plan make_yuv444_plan(const Yuv444Params &p) {
  const ImageDesc in = seen(p.in, p.direction);
  const FormatLayout layout = layout_of(in.format);
  if (layout.model != ColorModel::yuv || layout.is_deep())
    throw Error(Error::Code::settings,
                std::string(name_of(in.format)) + " is not an 8-bit YUV format");
  if (p.out.format != PixelFormat::Y444)
    throw Error(Error::Code::settings,
                std::string("the output format must be Y444, not ") + name_of(p.out.format));
  check_size("an input", p.in.width, p.in.height);
  check_size("an output", p.out.width, p.out.height);
  check_size("a resize", p.resize_width, p.resize_height);
  check_crop("x", p.crop_x, p.out.width, p.resize_width);
  check_crop("y", p.crop_y, p.out.height, p.resize_height);
  const Region part = p.region.value_or(whole(in));
  const Source source = {p.in, {}, false, false, p.direction};
  const ChromaAxes chroma = chroma_of(source);
  return {source,
          layout,
          chroma,
          geometry_of(p),
          p.out.width,
          p.out.height,
          make_fixed_axis_plan({part.x, part.width}, p.resize_width, p.crop_x, p.out.width,
                               chroma.x, in.width),
          make_fixed_axis_plan({part.y, part.height}, p.resize_height, p.crop_y, p.out.height,
                               chroma.y, in.height)};
}

}  // namespace cudatensor
