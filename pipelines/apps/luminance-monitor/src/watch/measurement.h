// SPDX-License-Identifier: LGPL-2.1-or-later
// The measurement of one frame by cudahistogram, and the sum of many.
#pragma once

#include <gstcudatensor.h>

#include <memory>

#include "watch/blocks.h"
#include "watch/thumbnail.h"
#include "watch/time.h"

namespace luminance {

/// The measurement of one frame, or the sum of several.
struct Measurement : GstCudaTensorHistogram {
  Measurement() : GstCudaTensorHistogram() {}

  Time time = 0;  // of the first frame
  // Only for a single frame; null if unknown.
  std::shared_ptr<const Blocks> blocks;
  std::shared_ptr<const Thumbnail> thumbnail;
};

/// The sum over an interval.
struct Interval : Measurement {
  Time length = 0;                    // from the time of the first frame to the end of the interval
  double min_mean = 0, max_mean = 0;  // of its frames
};

/// Sums frames.
class Accumulator {
 public:
  void add(const Measurement &frame);
  bool is_empty() const { return sum_.frames == 0; }
  Time begin() const { return sum_.time; }
  /// Returns the sum, which ends at `end`, and starts anew.
  Interval finish(Time end);

 private:
  Interval sum_;
};

}  // namespace luminance
