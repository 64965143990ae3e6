// SPDX-License-Identifier: LGPL-2.1-or-later
// Bilinear resize in fixed-point arithmetic: source coordinates in Q13.18, intermediate rows in
// Q8.5.
#pragma once

#include "kernels/hostdevice.h"

namespace cudatensor {

constexpr int kFixedBits = 18;
constexpr int32_t kFixedOne = 1 << kFixedBits;

/// One entry of a fixed-point sampling plan: the two taps, clamped to the picture, and the weight
/// of the second in units of 2^-18. Aligned so that a GPU loads it with one instruction.
struct alignas(16) FixedTap {
  int32_t i0, i1, w;
};

/// Blends two samples into one in Q8.5, the horizontal pass.
CUDATENSOR_HD int32_t fixed_horizontal(int32_t p0, int32_t p1, int32_t w) {
  return (p0 * (kFixedOne - w) + p1 * w + (1 << 12)) >> 13;
}

/// Blends two values in Q8.5 into a sample, the vertical pass. The sum is at most 8160 · 2^18 +
/// 2^22, which fits an int32.
CUDATENSOR_HD int32_t fixed_vertical(int32_t v0, int32_t v1, int32_t w) {
  return (v0 * (kFixedOne - w) + v1 * w + (1 << 22)) >> 23;
}

}  // namespace cudatensor
