// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudahistogram measured of one frame, and the sum of many.
#pragma once

#include <gstcudatensor.h>

#include <memory>

#include "watch/blocks.h"
#include "watch/time.h"

namespace luminance {

/// Of one frame, or of frames that were summed.
struct Measurement : GstCudaTensorHistogram {
  Measurement() : GstCudaTensorHistogram() {}

  Time time = 0;                         // of the first frame
  std::shared_ptr<const Blocks> blocks;  // of one frame; null: not known
};

/// A measurement of an interval.
struct Interval : Measurement {
  Time length = 0;  // from the first frame's time to the end of the interval
  double least_mean = 0, greatest_mean = 0;  // of its frames
};

/// Sums frames.
class Accumulator {
 public:
  void add(const Measurement &frame);
  bool is_empty() const { return sum_.frames == 0; }
  Time begin() const { return sum_.time; }
  /// The sum, which ends at `end`; then begins again with nothing.
  Interval finish(Time end);

 private:
  Interval sum_;
};

}  // namespace luminance
