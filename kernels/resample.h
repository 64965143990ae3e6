// SPDX-License-Identifier: LGPL-2.1-or-later
// Resize, letterbox and color conversion, shared by cudaletterbox, cudanormalize and cudatensormux.
#pragma once

#include <array>
#include <optional>

#include "kernels/color.h"
#include "kernels/orientation.h"
#include "kernels/sample.h"
#include "kernels/samplingplan.h"

namespace cudatensor {

/// The color channels of a result and their order.
enum class Color : uint8_t { rgb, bgr, gray, yuv };

/// The settings of a resize.
struct Resize {
  ResizeMode mode = ResizeMode::stretch;
  Method method = Method::bilinear;
  int pad_value =
      114;  ///< value outside the picture, 0..255; in YUV the luma value, with chroma 128
  bool scale_up = true;
  bool antialias = false;  ///< see filterplan.h; without it, method is bilinear or nearest
  int shortest_edge = 0;   ///< crops only: length of the shorter edge before the crop, in pixels;
                           ///< 0 = the longer side of the output

  Fit fit() const { return {mode, scale_up, shortest_edge}; }
};

/// The source picture's format, the position of its chroma samples, and its direction.
struct Source {
  ImageDesc image;          ///< as it is stored
  Colorimetry colorimetry;  ///< YUV only
  bool cosited_x = false;   ///< whether subsampled chroma is cosited with luma columns …
  bool cosited_y = false;   ///< … and, 4:2:0 only, with rows
  Direction direction = Direction::identity;

  /// The picture in its direction, whose coordinates all plans use.
  ImageDesc seen() const { return cudatensor::seen(image, direction); }
};

/// The chroma samples along the axes of a seen picture.
struct ChromaAxes {
  Chroma x, y;
};

ChromaAxes chroma_of(const Source &source);

bool operator==(const Resize &a, const Resize &b);
bool operator==(const Source &a, const Source &b);

/// The components of a pixel outside the picture: R G B, Y U V or gray.
using PadColor = std::array<float, 3>;
/// Returns `value` for each component except chroma, which is 128.
PadColor make_pad_color(Color color, int value);

/// Conversion of the components of a sampled pixel.
enum class Conversion : uint8_t {
  keep,  ///< RGB → RGB, YUV → YUV, gray → gray
  yuv_to_rgb,
  luma_to_gray,  ///< YUV → gray; only luma is sampled
  rgb_to_gray,
  gray_to_rgb,  ///< the sampled component is copied to all three
};

/// All data that a backend needs to compute the unrounded components of an output pixel from its
/// samples, in the order R G B, Y U V or gray.
struct ConversionPlan {
  Source source;
  FormatLayout layout;
  ChromaAxes chroma;
  Geometry geometry;
  Method method;
  DepthScale depth[2];  ///< for luma (or R, G and B), and for chroma
  Conversion conversion;
  YuvToRgb yuv_to_rgb;
  int sampled;   ///< components read: 1 or 3
  int produced;  ///< components computed: 1 or 3
  PadColor pad;
};

/// The same with the samples of each output column and row.
struct ResamplePlan : ConversionPlan {
  SamplingPlan sampling;
};

/// Makes a plan without its geometry. Throws if the source cannot be converted to the colors.
ConversionPlan make_conversion_plan(const Source &source, const Resize &resize, Color color);

/// Makes a plan for the source, or for a region of the seen picture, which may extend beyond it.
/// Throws if the source cannot be converted to the colors (YUV from RGB or gray) or a size is out
/// of range.
ResamplePlan make_resample_plan(const Source &source, const Resize &resize, Color color,
                                int dst_width, int dst_height,
                                const std::optional<Region> &region = {});

/// Returns the scale for samples of component `c` of a picture.
DepthScale make_depth_scale(const FormatLayout &layout, ColorRange range, int c);

/// Throws unless both sides are in 1..kMaxImageSize; `what` names the picture in the message.
void check_size(const char *what, int64_t width, int64_t height);

/// Throws if a value is out of range or the settings exclude each other. The text names the
/// properties.
void check_resize(const Resize &resize, Color color);

/// Converts one pixel.
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
