// SPDX-License-Identifier: LGPL-2.1-or-later
// Scale into a fixed size, pad the rest.
#pragma once

#include "kernels/resample.h"

namespace cudatensor {

struct LetterboxParams {
  Source source;
  ImageDesc out;  ///< any RGB format or GRAY8; x and A bytes become 255
  Resize resize;
};

struct LetterboxPlan {
  ResamplePlan resample;
  ImageDesc out;
};

LetterboxPlan make_letterbox_plan(const LetterboxParams &params);

/// An unrounded component as a sample of the output.
CUDATENSOR_HD uint8_t to_sample(float v) { return round_to_byte(v); }

}  // namespace cudatensor
