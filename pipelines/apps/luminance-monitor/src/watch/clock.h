// SPDX-License-Identifier: LGPL-2.1-or-later
// What time it is, for the monitor and for people.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "watch/time.h"

namespace luminance {

class Clock {
 public:
  /// `fast`: time is that of the frames, beginning at now.
  explicit Clock(bool fast);

  bool is_fast() const { return fast_; }
  Time now() const;
  /// Milliseconds since 1970 (UTC), by the machine's clock as it is set now.
  int64_t wall(Time time) const;
  /// A few times a second, on the main thread: notices that the machine was suspended. What was
  /// before keeps its time.
  void watch_sleep();
  /// Fast only: a frame of this time has come. Any thread.
  void advance(Time time);

 private:
  /// The machine has slept so long in all, as of a time.
  struct Sleep {
    Time since, slept;
  };

  Time slept() const;  // until now
  Time slept_by(Time time) const;

  const bool fast_;
  mutable std::mutex mutex_;
  std::vector<Sleep> sleeps_;  // the first: before the clock was made
  Time looked_;                // for sleep
  // From it, and the time asleep, to the machine's clock, in microseconds.
  mutable std::atomic<int64_t> offset_;
  std::atomic<Time> latest_;
};

}  // namespace luminance
