// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts the timestamps of a connection's frames to the time of the monitor.
#pragma once

#include <atomic>
#include <optional>

#include "watch/time.h"

namespace luminance {

class FrameClock {
 public:
  /// Normally, the time of a frame is that of its arrival, smoothed by the timestamps, and not
  /// before `begin`. `fast`: it is that of its timestamp, and the first frame has the time `begin`.
  FrameClock(bool fast, Time begin) : fast_(fast), end_(begin) {}

  /// Returns the time of a frame that arrives `now` with this running time, or without any. Call it
  /// on the thread that has the frame.
  Time time_of(Time now, std::optional<Time> running_time);

  bool began() const { return began_; }
  /// The earliest time of the next frame. Any thread.
  Time end() const { return end_; }

 private:
  Time fast_time_of(std::optional<Time> running_time);

  const bool fast_;
  std::atomic<bool> began_{false};
  std::atomic<Time> end_;
  Time offset_ = 0;  // from running time to the monitor's time
  Time last_ = 0;    // the running time of the latest frame
};

}  // namespace luminance
