// SPDX-License-Identifier: LGPL-2.1-or-later
// The frame rate, measured from the times of a camera's frames.
#pragma once

#include <gst/gst.h>

#include <vector>

namespace cudatensor {

class MeasuredRate {
 public:
  /// Adds the running time of the next frame. May be GST_CLOCK_TIME_NONE.
  void add(GstClockTime time);
  /// Returns the time from frame to frame in ns, at most a second; 0 until enough frames have come.
  /// Single frames that come early, late or not at all do not change it.
  GstClockTime duration() const { return duration_; }

 private:
  GstClockTime last_ = GST_CLOCK_TIME_NONE;
  std::vector<GstClockTime> intervals_;  // the latest intervals between frames
  size_t next_ = 0;                      // the index of the interval to replace next
  GstClockTime duration_ = 0;
};

}  // namespace cudatensor
