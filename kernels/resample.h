// SPDX-License-Identifier: LGPL-2.1-or-later
// Resize, letterbox and colour conversion: the part that cudaletterbox and cudanormalize share.
#pragma once

#include <array>
#include <optional>

#include "kernels/color.h"
#include "kernels/sample.h"
#include "kernels/samplingplan.h"

namespace cudatensor {

/// What the result of an operation holds, and in which order.
enum class Color : uint8_t { rgb, bgr, gray, yuv };

/// How a picture is brought to another size.
struct Resize {
  ResizeMode mode = ResizeMode::stretch;
  Method method = Method::bilinear;
  int pad_value = 114;  ///< 0..255, outside the picture; YUV: luma, chroma is 128
  bool scale_up = true;
};

/// What the caps say about the input's samples.
struct Source {
  ImageDesc image;
  Colorimetry colorimetry;  ///< YUV only
  bool cosited_x = false;   ///< 4:2:0 only: chroma lies on even luma columns …
  bool cosited_y = false;   ///< … and rows
};

bool operator==(const Resize &a, const Resize &b);
bool operator==(const Source &a, const Source &b);

/// The components of a pixel outside of the picture: R G B, Y U V or grey.
using PadColor = std::array<float, 3>;
/// `value` for each but chroma, which is 128.
PadColor make_pad_color(Color color, int value);

/// What is done to the components of a sampled pixel.
enum class Conversion : uint8_t {
  keep,  ///< RGB → RGB, YUV → YUV, grey → grey
  yuv_to_rgb,
  luma_to_gray,  ///< YUV → grey; only luma is sampled
  rgb_to_gray,
  gray_to_rgb,  ///< three times the one sampled component
};

/// Everything that a backend needs to produce the components of an output pixel, unrounded, in
/// the order R G B, Y U V or grey.
struct ResamplePlan {
  Source source;
  FormatLayout layout;
  Geometry geometry;
  SamplingPlan sampling;
  Method method;
  Conversion conversion;
  YuvToRgb yuv_to_rgb;
  int sampled;   ///< components read: 1 or 3
  int produced;  ///< components that result: 1 or 3
  PadColor pad;
};

/// Of the source, or of a region of it, which may leave it. Refuses colours that the source cannot give
/// (YUV from RGB or grey) and sizes out of range.
ResamplePlan make_resample_plan(const Source &source, const Resize &resize, Color color,
                                int dst_width, int dst_height,
                                const std::optional<Region> &region = {});

/// Throws unless both sides are 1..kMaxImageSize; `what` names the picture.
void check_size(const char *what, int64_t width, int64_t height);

/// Throws unless it is a sample.
void check_pad_value(int value);

/// The conversion of one pixel.
CUDATENSOR_HD Pixel convert(Conversion conversion, const YuvToRgb &k, Pixel p) {
  switch (conversion) {
    case Conversion::yuv_to_rgb: return yuv_to_rgb(k, p);
    case Conversion::luma_to_gray: return {luma_to_gray(k, p.c0), 0.0f, 0.0f};
    case Conversion::rgb_to_gray: return {rgb_to_gray(p), 0.0f, 0.0f};
    case Conversion::gray_to_rgb: return {p.c0, p.c0, p.c0};
    case Conversion::keep: break;
  }
  return p;
}

}  // namespace cudatensor
