// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/resample.h"

#include <cmath>

#include "kernels/error.h"

namespace cudatensor {
namespace {

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::settings, text); }

Conversion conversion_to(Color color, ColorModel from) {
  switch (from) {
    case ColorModel::yuv:
      if (color == Color::yuv) return Conversion::keep;
      return color == Color::gray ? Conversion::luma_to_gray : Conversion::yuv_to_rgb;
    case ColorModel::rgb: return color == Color::gray ? Conversion::rgb_to_gray : Conversion::keep;
    case ColorModel::gray: return color == Color::gray ? Conversion::keep : Conversion::gray_to_rgb;
  }
  return Conversion::keep;
}

}  // namespace

bool operator==(const Resize &a, const Resize &b) {
  return a.mode == b.mode && a.method == b.method && a.pad_value == b.pad_value &&
         a.scale_up == b.scale_up && a.antialias == b.antialias &&
         a.shortest_edge == b.shortest_edge;
}

bool operator==(const Source &a, const Source &b) {
  return a.image == b.image && a.colorimetry == b.colorimetry && a.cosited_x == b.cosited_x &&
         a.cosited_y == b.cosited_y && a.direction == b.direction;
}

ChromaAxes chroma_of(const Source &source) {
  const FormatLayout layout = layout_of(source.image.format);
  const Orientation o = orientation_of(source.direction);
  ChromaAxes axes = {{layout.chroma_shift_x, source.cosited_x},
                     {layout.chroma_shift_y, source.cosited_y}};
  if (o.transposed) std::swap(axes.x, axes.y);
  axes.x.mirrored = o.mirrored_x;
  axes.y.mirrored = o.mirrored_y;
  return axes;
}

DepthScale make_depth_scale(const FormatLayout &layout, ColorRange range, int c) {
  const int shift = layout.shift;
  if (layout.bits == 8) return {1.0f, 0.0f, 0.0f};
  const bool full = layout.model == ColorModel::gray ||
                    (layout.model == ColorModel::yuv && range == ColorRange::full);
  if (!full) return {std::ldexp(1.0f, 8 - layout.bits - shift), 0.0f, 0.0f};
  const float factor = std::ldexp(static_cast<float>(255.0 / ((1 << layout.bits) - 1)), -shift);
  if (c == 0) return {factor, 0.0f, 0.0f};
  return {factor, std::ldexp(1.0f, layout.bits - 1 + shift), 128.0f};
}

void check_size(const char *what, int64_t width, int64_t height) {
  if (width >= 1 && height >= 1 && width <= kMaxImageSize && height <= kMaxImageSize) return;
  throw Error(Error::Code::settings,
              std::string(what) + " of " + std::to_string(width) + "x" + std::to_string(height) +
                  " pixels: width and height must be 1 to " + std::to_string(kMaxImageSize));
}

void check_resize(const Resize &resize, Color color) {
  if (resize.pad_value < 0 || resize.pad_value > 255)
    refuse("pad-value " + std::to_string(resize.pad_value) + " is not between 0 and 255");
  if (resize.shortest_edge < 0 || resize.shortest_edge > kMaxImageSize)
    refuse("shortest-edge " + std::to_string(resize.shortest_edge) + " is not between 0 and " +
           std::to_string(kMaxImageSize));
  if (!resize.antialias) {
    if (resize.method != Method::bilinear && resize.method != Method::nearest)
      refuse("method is box, bicubic or lanczos, which requires antialias=true");
    return;
  }
  if (resize.method == Method::nearest)
    refuse("method=nearest cannot be combined with antialias=true");
  if (resize.mode == ResizeMode::affine)
    refuse(
        "resize-mode=affine cannot be combined with antialias=true; the other modes can, for "
        "example ultralytics and torchvision");
  if (color == Color::yuv) refuse("color=yuv cannot be combined with antialias=true");
}

PadColor make_pad_color(Color color, int value) {
  const auto pad = static_cast<float>(value);
  const float chroma = color == Color::yuv ? 128.0f : pad;
  return {pad, chroma, chroma};
}

ConversionPlan make_conversion_plan(const Source &source, const Resize &resize, Color color) {
  ConversionPlan plan = {};
  plan.source = source;
  plan.method = resize.method;
  plan.layout = layout_of(source.image.format);
  plan.chroma = chroma_of(source);
  if (color == Color::yuv && plan.layout.model != ColorModel::yuv)
    refuse(std::string("color=yuv requires YUV input, not ") + name_of(source.image.format));
  for (int c = 0; c < 2; ++c)
    plan.depth[c] = make_depth_scale(plan.layout, source.colorimetry.range, c);
  plan.conversion = conversion_to(color, plan.layout.model);
  plan.yuv_to_rgb = make_yuv_to_rgb(source.colorimetry);
  plan.sampled = plan.conversion == Conversion::luma_to_gray ? 1 : plan.layout.components;
  plan.produced = color == Color::gray ? 1 : 3;
  plan.pad = make_pad_color(color, resize.pad_value);
  return plan;
}

ResamplePlan make_resample_plan(const Source &source, const Resize &resize, Color color,
                                int dst_width, int dst_height,
                                const std::optional<Region> &region) {
  const ImageDesc image = source.seen();
  check_size("an input", source.image.width, source.image.height);
  check_size("an output", dst_width, dst_height);
  check_resize(resize, color);

  ResamplePlan plan = {make_conversion_plan(source, resize, color), {}};
  plan.geometry = make_geometry(resize.fit(), image.width, image.height,
                                region.value_or(whole(image)), dst_width, dst_height);
  plan.geometry.direction = source.direction;
  plan.sampling = make_sampling_plan(plan.geometry, resize.method, plan.chroma.x, plan.chroma.y);
  return plan;
}

}  // namespace cudatensor
