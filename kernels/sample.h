// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernels/hostdevice.h"

namespace cudatensor {

/// Linear interpolation with one rounding after the difference. Sampling blends the rows of both
/// columns first, then the columns.
CUDATENSOR_HD float blend(float a, float b, float w) { return fmaf(w, b - a, a); }

/// The border: `inside` is the share of the sample that lies in the picture, the rest is pad.
CUDATENSOR_HD float over_pad(float value, float inside, float pad) {
  const float mixed = fmaf(inside, value - pad, pad);
  return inside == 1.0f ? value : inside == 0.0f ? pad : mixed;
}

}  // namespace cudatensor
