// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of 4:2:0 to 4:4:4 with a fixed-point resize and crop.
#pragma once

#include <optional>

#include "kernels/resample.h"

namespace cudatensor {

/// Resizes the input, or a region of it, to resize_width × resize_height. The output is the
/// rectangle of its own size at (crop_x, crop_y) of the result.
struct Yuv444Params {
  ImageDesc in;   ///< 8-bit YUV
  ImageDesc out;  ///< Y444
  int resize_width, resize_height;
  int crop_x, crop_y;
  std::optional<Region> region = {};  ///< of the seen picture; must be inside it
  Direction direction = Direction::identity;
};

struct Yuv444Plan {
  Source source;
  FormatLayout layout;
  ChromaAxes chroma;
  Geometry geometry;
  int width, height;
  FixedAxisPlan x, y;
};

/// Makes the plan. Throws if the crop extends beyond the resized picture, a size is out of range,
/// or the input is not 8-bit YUV.
Yuv444Plan make_yuv444_plan(const Yuv444Params &params);

}  // namespace cudatensor
