// SPDX-License-Identifier: LGPL-2.1-or-later
// Luminance histogram and what is read off it.
#pragma once

#include <array>

#include "kernels/color.h"
#include "kernels/image.h"

namespace cudatensor {

constexpr int kBins = 256;
using Bins = std::array<uint64_t, kBins>;

struct HistogramParams {
  ImageDesc in;
  Rect roi;  ///< pixels; must lie in the picture
};

/// Throws unless the picture's size is in range and the region lies in it.
void check_histogram(const HistogramParams &params);

/// `roi` clipped to a picture of width × height; throws where a side is below 1 or nothing is left.
Rect clip_roi(Rect roi, int width, int height);

struct HistogramStatistics {
  uint64_t pixels;
  double mean, stddev;  ///< of the population
  unsigned min, max;    ///< lowest and highest bin in use
  unsigned median, p1, p5, p95, p99;
};

/// Of bins that hold at least one pixel; all 0 otherwise.
HistogramStatistics statistics_of(const Bins &bins);

}  // namespace cudatensor
