// SPDX-License-Identifier: LGPL-2.1-or-later
// The parameters for reading 8-bit 4:2:0 source pixels in quads of four by four.
#pragma once

#include <optional>

#include "kernels/image.h"
#include "kernels/samplingplan.h"

namespace cudatensor::cuda {

/// The chroma of quads along one axis. The first pixel of a quad is at a multiple of four. A quad
/// reads four chroma samples, the first of which is before it.
struct QuadAxis {
  int32_t low, high;   ///< the first and the last sample; others are clamped to them
  uint32_t weight[4];  ///< by pixel: the weight of the second sample, twice in half precision
};

struct QuadArgs {
  QuadAxis x, y;
  int32_t width, height;  ///< size of the picture, in pixels
  uint32_t select;        ///< selector for __byte_perm: U, 4, V, 4 of a word's first sample
};

/// Makes the parameters for a plan of source pixels, the first of which is (x, y). Returns no value
/// unless the picture is 8-bit 4:2:0 and no entry of the plan resizes.
std::optional<QuadArgs> make_quad_args(const ImageDesc &image, const SamplingPlan &plan, int x,
                                       int y);

}  // namespace cudatensor::cuda
