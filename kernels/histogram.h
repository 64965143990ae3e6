// SPDX-License-Identifier: LGPL-2.1-or-later
// Luminance histograms and their statistics.
#pragma once

#include <array>
#include <optional>

#include "kernels/color.h"
#include "kernels/image.h"

namespace cudatensor {

constexpr int kBins = 256;
using Bins = std::array<uint64_t, kBins>;

struct HistogramParams {
  ImageDesc in;
  Rect roi;  ///< in pixels; must be inside the picture
};

/// Returns the index of the byte of a pixel that holds the upper eight bits of luma; no value if
/// two bytes hold them.
std::optional<int> counted_byte(const FormatLayout &layout);

/// Throws unless the picture's size is in range and the region is inside the picture.
void check_histogram(const HistogramParams &params);

/// Clips `roi` to a picture of width × height. Returns no value if nothing is left. Throws if a
/// side is less than 1.
std::optional<Rect> clip_roi(Rect roi, int width, int height);

struct HistogramStatistics {
  uint64_t pixels;
  double mean, stddev;  ///< population standard deviation
  unsigned min, max;    ///< lowest and highest bin that is not empty
  unsigned median, p1, p5, p95, p99;
};

/// Computes the statistics of the bins; all 0 if they contain no pixel.
HistogramStatistics statistics_of(const Bins &bins);

}  // namespace cudatensor
