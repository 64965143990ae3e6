// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/batchschedule.h"

#include <algorithm>

namespace cudatensor {

bool BatchSchedule::is_late(GstClockTime time) const {
  return last_start_ && GST_CLOCK_TIME_IS_VALID(time) && time <= *last_start_;
}

std::optional<GstClockTime> BatchSchedule::next_start(const Heads &heads, GstClockTime now) const {
  if (heads.empty()) return std::nullopt;
  GstClockTime earliest = GST_CLOCK_TIME_NONE;
  for (const GstClockTime time : heads)
    if (GST_CLOCK_TIME_IS_VALID(time) && !is_late(time)) earliest = std::min(earliest, time);
  if (GST_CLOCK_TIME_IS_VALID(earliest)) return earliest;
  if (!last_start_) return 0;
  // If only late frames are waiting, the batch starts when the next batch is due, but not after
  // `now`, or frames that come in time would be late, and never at the start of the last batch. If
  // the last batch was in the future, because the clock of its camera is wrong, the next one starts
  // at `now`.
  const GstClockTime due = *last_start_ + window_;
  return now < *last_start_ - std::min(*last_start_, window_)
             ? now
             : std::max(*last_start_ + 1, std::min(due, now));
}

bool BatchSchedule::joins(GstClockTime time, GstClockTime start) const {
  return !GST_CLOCK_TIME_IS_VALID(time) || time <= start || time - start < window_;
}

}  // namespace cudatensor
