// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/measuredrate.h"

#include <algorithm>

namespace cudatensor {
namespace {

constexpr size_t kFewest = 3, kMost = 15;

GstClockTime median_of(std::vector<GstClockTime> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void MeasuredRate::add(GstClockTime time) {
  if (!GST_CLOCK_TIME_IS_VALID(time)) return;
  const bool follows = GST_CLOCK_TIME_IS_VALID(last_) && time > last_;
  const GstClockTime interval = follows ? time - last_ : 0;
  last_ = time;
  if (!follows) return;
  if (intervals_.size() < kMost)
    intervals_.push_back(interval);
  else
    intervals_[next_++ % kMost] = interval;
  if (intervals_.size() < kFewest) return;
  const GstClockTime median = std::min<GstClockTime>(median_of(intervals_), GST_SECOND);
  // Small changes are ignored, so that callers do not follow jitter.
  if (median > duration_ + duration_ / 4 || median < duration_ - duration_ / 4) duration_ = median;
}

}  // namespace cudatensor
