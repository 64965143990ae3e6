// SPDX-License-Identifier: LGPL-2.1-or-later
// Resize of a picture to fit a fixed size, with padding.
#pragma once

#include <variant>

#include "kernels/filterplan.h"

namespace cudatensor {

struct LetterboxParams {
  Source source;
  ImageDesc out;  ///< any RGB format or GRAY8; x and A bytes are set to 255
  Resize resize;
};

struct LetterboxPlan {
  ImageDesc source;
  Geometry geometry;
  std::variant<ResamplePlan, FilterPlan> sampling;
  ImageDesc out;
  int pad;  ///< value of all components
};

LetterboxPlan make_letterbox_plan(const LetterboxParams &params);

/// Rounds and clamps a component to an output sample.
CUDATENSOR_HD uint8_t to_sample(float v) { return round_to_byte(v); }

}  // namespace cudatensor
