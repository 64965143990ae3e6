// SPDX-License-Identifier: LGPL-2.1-or-later
// 4:2:0 → 4:4:4 with a fixed-point crop and resize.
#pragma once

#include <optional>

#include "kernels/image.h"
#include "kernels/samplingplan.h"

namespace cudatensor {

/// The output is the rectangle of its size at (crop_x, crop_y) of the input, or of a region of it,
/// resized to resize_width × resize_height.
struct Yuv444Params {
  ImageDesc in;   ///< NV12, NV21, I420, YV12 or Y444
  ImageDesc out;  ///< Y444
  int resize_width, resize_height;
  int crop_x, crop_y;
  std::optional<Region> region = {};  ///< lies in the input
};

struct Yuv444Plan {
  FormatLayout layout;
  Geometry geometry;
  int source_width;
  int width, height;
  FixedAxisPlan x, y;
};

/// Throws where the crop leaves the resized picture, a size is out of range, or the input is not
/// YUV of eight bits.
Yuv444Plan make_yuv444_plan(const Yuv444Params &params);

}  // namespace cudatensor
