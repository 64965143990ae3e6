// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "oracle.h"
#include "oraclemath.h"

namespace cudatensor::oracle {

Warped::Warped(const ConstImage &in, const NormalizeCase &params)
    : in_(in), params_(params), format_(format_of(in.desc.format)) {
  const Matrix &m = *params.matrix;
  const double det = m[0] * m[4] - m[1] * m[3];
  const double a = m[4] / det, b = -m[1] / det, c = (m[1] * m[5] - m[2] * m[4]) / det;
  const double d = -m[3] / det, e = m[0] / det, g = (m[2] * m[3] - m[0] * m[5]) / det;
  const auto fixed = [](double value) { return std::llround(value * 4294967296.0); };
  x_ = {fixed(a), fixed(b), fixed(a / 2 + b / 2 + c - 0.5)};
  y_ = {fixed(d), fixed(e), fixed(d / 2 + e / 2 + g - 0.5)};
}

/// Returns the reading of a component along an axis of the picture. `inside` is that of luma.
Reading Warped::read(char letter, bool across, int x, int y) const {
  const Fixed &f = across ? x_ : y_;
  const int luma = across ? in_.desc.width : in_.desc.height;
  const int each = is_chroma(letter) ? (across ? format_.across : format_.down) : 1;
  const bool cosited = across ? params_.source.cosited_x : params_.source.cosited_y;
  // Positions are below 2^31 samples, so that the sum of two products of a case does not overflow.
  const int64_t position = f.a * x + f.b * y + f.c;
  const int64_t one = int64_t{1} << 32;
  const auto floor_of = [one](int64_t p) { return (p - ((p % one) + one) % one) / one; };
  const auto in_picture = [luma](int64_t i) { return i >= 0 && i < luma; };
  const auto limited = [](int64_t i, int length) {
    return static_cast<int>(limit<int64_t>(i, 0, length - 1));
  };
  if (params_.resize.method == Method::nearest) {
    const int64_t i = floor_of(position + one / 2);
    const int tap = limited(i, luma) / each;
    return {tap, tap, 0.0, params_.repeat_edge || in_picture(i) ? 1.0 : 0.0};
  }
  const auto weight = [one, floor_of](int64_t p) {
    return static_cast<double>((p - floor_of(p) * one) / 256) / 16777216.0;
  };
  const int64_t i0 = floor_of(position);
  const double w = weight(position);
  double inside = (in_picture(i0) ? 1.0 - w : 0.0) + (in_picture(i0 + 1) ? w : 0.0);
  if (params_.repeat_edge) inside = 1.0;
  if (each == 1) return {limited(i0, luma), limited(i0 + 1, luma), w, inside};
  // Floors of the position on chroma's grid: halved, or quartered.
  int64_t chroma = cosited ? position : position - (each - 1) * (one / 2);
  chroma = (chroma - ((chroma % each) + each) % each) / each;
  const int samples = rounded_up(luma, each);
  return {limited(floor_of(chroma), samples), limited(floor_of(chroma) + 1, samples),
          weight(chroma), inside};
}

float Warped::sampled(char letter, int x, int y) const {
  return blended(read(letter, true, x, y), read(letter, false, x, y), [&](int i, int j) {
    return level(in_, params_.source.colorimetry.range, letter, i, j);
  });
}

namespace {

/// Converts the sampled components of a pixel to the colors.
Triple in_colors(const Format &format, Colorimetry colorimetry, Color color, const Triple &all) {
  if (format.is_gray()) return {all[0], all[0], all[0]};
  if (format.is_rgb()) return color == Color::gray ? Triple{gray_from_rgb(all)} : all;
  if (color == Color::gray) return {gray_from_luma(colorimetry, all[0]), 0.0f, 0.0f};
  return color == Color::yuv ? all : rgb_from_yuv(colorimetry, all);
}

}  // namespace

Triple Warped::at(int x, int y) const {
  const char *const letters = format_.components.c_str();
  Triple all = {sampled(letters[0], x, y), 0.0f, 0.0f};
  for (size_t c = 1; c < format_.components.size(); ++c) all[c] = sampled(letters[c], x, y);
  Triple v = in_colors(format_, params_.source.colorimetry, params_.color, all);
  const float win =
      single(read(letters[0], true, x, y).inside) * single(read(letters[0], false, x, y).inside);
  for (int c = 0; c < 3; ++c) {
    const float pad = params_.color == Color::yuv && c > 0
                          ? 128.0f
                          : static_cast<float>(params_.resize.pad_value);
    if (win == 0.0f) v[c] = pad;
    if (win != 0.0f && win != 1.0f) v[c] = std::fma(win, v[c] - pad, pad);
  }
  return v;
}

}  // namespace cudatensor::oracle
