// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cmath>

#include "kernels/hostdevice.h"

namespace cudatensor {

/// Interpolates linearly; the result is rounded once after the difference. Sampling first blends
/// the two rows of each column, then the two columns.
CUDATENSOR_HD float blend(float a, float b, float w) { return fmaf(w, b - a, a); }

/// Converts samples of more than eight bits to the scale of eight, without rounding to integers.
struct DepthScale {
  float factor;
  float center;  ///< subtracted before the multiplication …
  float base;    ///< … and this is added after it
};

CUDATENSOR_HD float to_eight_bits(const DepthScale &k, float sample) {
  return (sample - k.center) * k.factor + k.base;
}

/// Whether the conversion is one multiplication by a power of two, which is exact.
inline bool is_power_of_two(const DepthScale &k) {
  int exponent;
  return std::frexp(k.factor, &exponent) == 0.5f && k.center == 0.0f && k.base == 0.0f;
}

/// Blends a border sample with the pad value; `inside` is the fraction of the sample's weight
/// inside the picture.
CUDATENSOR_HD float blend_with_pad(float value, float inside, float pad) {
  const float mixed = fmaf(inside, value - pad, pad);
  return inside == 1.0f ? value : inside == 0.0f ? pad : mixed;
}

}  // namespace cudatensor
