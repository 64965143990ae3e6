// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/measurement.h"

#include <algorithm>
#include <utility>

#include "kernels/histogram.h"

namespace luminance {

void Accumulator::add(const Measurement &frame) {
  if (is_empty()) {
    sum_.time = frame.time;
    sum_.stream_time = frame.stream_time;
    sum_.least_mean = sum_.greatest_mean = frame.mean;
  }
  sum_.frames += frame.frames;
  sum_.pixels += frame.pixels;
  for (size_t i = 0; i < sum_.histogram.size(); ++i) sum_.histogram[i] += frame.histogram[i];
  sum_.least_mean = std::min(sum_.least_mean, frame.mean);
  sum_.greatest_mean = std::max(sum_.greatest_mean, frame.mean);
  low_ += frame.clipped_low * static_cast<double>(frame.pixels);
  high_ += frame.clipped_high * static_cast<double>(frame.pixels);
}

Interval Accumulator::finish(Time end) {
  Interval done = std::exchange(sum_, {});
  const double low = std::exchange(low_, 0), high = std::exchange(high_, 0);
  done.duration = end - done.time;
  if (done.pixels == 0) return done;
  const cudatensor::HistogramStatistics s = cudatensor::statistics_of(done.histogram);
  done.mean = s.mean, done.stddev = s.stddev;
  done.min = s.min, done.max = s.max, done.median = s.median;
  done.p1 = s.p1, done.p5 = s.p5, done.p95 = s.p95, done.p99 = s.p99;
  done.clipped_low = low / static_cast<double>(done.pixels);
  done.clipped_high = high / static_cast<double>(done.pixels);
  return done;
}

}  // namespace luminance
