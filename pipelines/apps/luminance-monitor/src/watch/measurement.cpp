// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/measurement.h"

#include <algorithm>
#include <utility>

namespace luminance {

void Accumulator::add(const Measurement &frame) {
  if (is_empty()) {
    sum_.time = frame.time;
    sum_.min_mean = sum_.max_mean = frame.mean;
  }
  sum_.min_mean = std::min(sum_.min_mean, frame.mean);
  sum_.max_mean = std::max(sum_.max_mean, frame.mean);
  gst_cuda_tensor_histogram_add(&sum_, &frame);
}

Interval Accumulator::finish(Time end) {
  Interval done = std::exchange(sum_, {});
  done.length = end - done.time;
  return done;
}

}  // namespace luminance
