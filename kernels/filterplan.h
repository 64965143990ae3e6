// SPDX-License-Identifier: LGPL-2.1-or-later
// The plan of an antialiased resize with Pillow's filters. It uses the integer arithmetic of
// Pillow's Image.resize(), so that the results are identical. The source pixels are converted to
// 8-bit RGB or gray, then filtered along x to 8-bit values, then along y. The plan is computed once
// per geometry on the host, in double precision, and used by all backends.
#pragma once

#include <optional>
#include <vector>

#include "kernels/resample.h"

namespace cudatensor {

/// Fractional bits of a weight: weights are in units of 2^-22.
constexpr int kFilterBits = 22;
constexpr int32_t kFilterOne = 1 << kFilterBits;
/// Initial value of a sum of products: one half, so that the shift rounds the result.
constexpr int32_t kFilterHalf = 1 << (kFilterBits - 1);

/// The source pixels of one output coordinate.
struct FilterWindow {
  int32_t first;   ///< index of the first source pixel
  int32_t count;   ///< number of source pixels; 0 = pad
  int32_t weight;  ///< index of the first pixel's weight
};

/// One axis of a plan.
struct FilterAxis {
  std::vector<FilterWindow> windows;  ///< by output coordinate
  std::vector<int32_t> weights;       ///< weights of all windows
  int begin = 0, end = 0;             ///< range of output coordinates that are not pad
  int src_begin = 0, src_end = 0;     ///< range that contains all windows' source pixels
  bool copies = true;                 ///< every window is one pixel, whose weight is 1
};

struct FilterPlan {
  Geometry geometry;
  /// Plan of the source pixels: column i and row j of its result is the pixel (x.src_begin + i,
  /// y.src_begin + j). Samples are rounded to 8 bits before they are filtered.
  ResamplePlan pixels;
  FilterAxis x, y;
};

/// Makes a plan for the source, or for a region of the seen picture. A region is filtered like a
/// picture that contains only the pixels it touches; an output pixel is pad if its center is
/// outside the source. Throws Error under the same conditions as make_resample_plan(), and if
/// check_resize() throws.
FilterPlan make_filter_plan(const Source &source, const Resize &resize, Color color, int dst_width,
                            int dst_height, const std::optional<Region> &region = {});

/// Returns the result of a pass. `sum` is kFilterHalf plus the products of pixels and weights.
CUDATENSOR_HD uint8_t filtered_sample(int32_t sum) {
  const int32_t sample = sum >> kFilterBits;
  return static_cast<uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
}

}  // namespace cudatensor
