// SPDX-License-Identifier: LGPL-2.1-or-later
// What a message of cudahistogram says of one frame, and the sum of many.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "watch/blocks.h"
#include "watch/time.h"

namespace luminance {

/// Pixels of each luma.
using Histogram = std::array<uint64_t, 256>;

/// Of one frame, or of frames that were summed. Luma is 0 to 255 as in the picture: most video has
/// black at 16 and white at 235.
struct Measurement {
  Time time = 0;             // of the first frame
  uint64_t stream_time = 0;  // of the first frame, in nanoseconds of its video; -1: unknown
  uint32_t frames = 0;
  uint64_t pixels = 0;
  Histogram histogram = {};
  double mean = 0, stddev = 0;                                              // of luma
  unsigned min = 0, max = 0, median = 0, p1 = 0, p5 = 0, p95 = 0, p99 = 0;  // luma
  double clipped_low = 0,
         clipped_high = 0;               // shares of pixels at or beyond black and white: 0 to 1
  std::shared_ptr<const Blocks> blocks;  // of one frame; null: not known
};

/// A measurement of an interval.
struct Interval : Measurement {
  Time duration = 0;  // from the first frame's time to the end of the interval
  double least_mean = 0, greatest_mean = 0;  // of its frames
};

/// Sums frames. The statistics of a sum are those of its histogram, with the definitions that cudahistogram has for one frame.
class Accumulator {
 public:
  void add(const Measurement &frame);
  bool is_empty() const { return sum_.frames == 0; }
  Time begin() const { return sum_.time; }
  /// The sum, which ends at `end`; then begins again with nothing.
  Interval finish(Time end);

 private:
  Interval sum_;
  double low_ = 0, high_ = 0;  // clipped pixels
};

}  // namespace luminance
