// SPDX-License-Identifier: LGPL-2.1-or-later
// The framerate that the times of a camera's frames show.
#pragma once

#include <gst/gst.h>

#include <vector>

namespace cudatensor {

class MeasuredRate {
 public:
  /// The running time of each frame, in their order. May be GST_CLOCK_TIME_NONE.
  void add(GstClockTime time);
  /// The time from frame to frame; 0 until enough frames have come, at most a second. It does not
  /// follow single frames that come early, late or not at all.
  GstClockTime duration() const { return duration_; }

 private:
  GstClockTime last_ = GST_CLOCK_TIME_NONE;
  std::vector<GstClockTime> intervals_;  // the latest
  size_t next_ = 0;                      // to be replaced
  GstClockTime duration_ = 0;
};

}  // namespace cudatensor
