// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernels/tensor.h"

namespace cudatensor {

enum class ColorMatrix : uint8_t { bt601, bt709, bt2020 };
enum class ColorRange : uint8_t { limited, full };  // 16-235 and 0-255

/// The color matrix and range of a YUV picture.
struct Colorimetry {
  ColorMatrix matrix = ColorMatrix::bt601;
  ColorRange range = ColorRange::limited;
};

inline bool operator==(Colorimetry a, Colorimetry b) {
  return a.matrix == b.matrix && a.range == b.range;
}

/// Coefficients of the YUV → RGB conversion, computed in double precision and rounded once.
struct YuvToRgb {
  float ky, y0, krv, kgu, kgv, kbu;
};

YuvToRgb make_yuv_to_rgb(Colorimetry colorimetry);

struct Pixel {
  float c0, c1, c2;  // R G B or Y U V
};

CUDATENSOR_HD float luma_to_gray(const YuvToRgb &k, float y) {
  return clamp_to_sample(fmaf(k.ky, y, k.y0));
}

CUDATENSOR_HD Pixel clamp_to_samples(Pixel p) {
  return {clamp_to_sample(p.c0), clamp_to_sample(p.c1), clamp_to_sample(p.c2)};
}

/// Converts luma `y` and chroma `u` and `v` less 128. The result may be outside 0..255.
CUDATENSOR_HD Pixel centered_yuv_to_rgb(const YuvToRgb &k, float y, float u, float v) {
  const float yy = fmaf(k.ky, y, k.y0);
  return {fmaf(k.krv, v, yy), fmaf(k.kgu, u, fmaf(k.kgv, v, yy)), fmaf(k.kbu, u, yy)};
}

/// The result may be outside 0..255.
CUDATENSOR_HD Pixel yuv_to_rgb_unclamped(const YuvToRgb &k, Pixel yuv) {
  return centered_yuv_to_rgb(k, yuv.c0, yuv.c1 - 128.0f, yuv.c2 - 128.0f);
}

CUDATENSOR_HD Pixel yuv_to_rgb(const YuvToRgb &k, Pixel yuv) {
  return clamp_to_samples(yuv_to_rgb_unclamped(k, yuv));
}

CUDATENSOR_HD float rgb_to_gray(Pixel rgb) {
  return fmaf(0.299f, rgb.c0, fmaf(0.587f, rgb.c1, 0.114f * rgb.c2));
}

/// Returns the luminance for the histogram. Each of the four operations is rounded separately,
/// because fused multiply-add would move gray levels to other bins than the published formula.
CUDATENSOR_HD uint8_t luminance(float r, float g, float b) {
  return truncate_to_byte((0.299f * r + 0.587f * g) + 0.114f * b);
}

}  // namespace cudatensor
