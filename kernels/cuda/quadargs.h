// SPDX-License-Identifier: LGPL-2.1-or-later
// Source pixels of 4:2:0 with eight bits, read in quads of four by four.
#pragma once

#include <optional>

#include "kernels/image.h"
#include "kernels/samplingplan.h"

namespace cudatensor::cuda {

/// One axis of the chroma of quads, whose first pixel is at a multiple of four. A quad reads four
/// samples, the first of which is before it.
struct QuadAxis {
  int32_t low, high;   ///< the first and the last sample; others are clamped to them
  uint32_t weight[4];  ///< by pixel: the weight of the second sample, twice in half precision
};

struct QuadArgs {
  QuadAxis x, y;
  int32_t width, height;  ///< of the picture, in pixels
  uint32_t select;        ///< for __byte_perm: U, 4, V, 4 of the first sample of a word
};

/// The parameters for a plan of source pixels, of which (x, y) is the first. No value unless the
/// picture is 4:2:0 with eight bits and all entries are those of pixels that are not resized.
std::optional<QuadArgs> make_quad_args(const ImageDesc &image, const SamplingPlan &plan, int x,
                                       int y);

}  // namespace cudatensor::cuda
