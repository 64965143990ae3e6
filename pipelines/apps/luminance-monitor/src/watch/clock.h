// SPDX-License-Identifier: LGPL-2.1-or-later
// The monotonic time of the monitor, and the wall clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "watch/time.h"

namespace luminance {

class Clock {
 public:
  /// `fast`: time is that of the frames, starting now.
  explicit Clock(bool fast);

  bool is_fast() const { return fast_; }
  Time now() const;
  /// Milliseconds since 1970 (UTC), by the current setting of the machine's clock.
  int64_t wall(Time time) const;
  /// Call a few times per second on the main thread: detects that the machine was suspended.
  /// Earlier times keep their wall clock time.
  void check_suspend();
  /// In fast mode: a frame with this time has arrived. Any thread.
  void advance(Time time);

 private:
  /// How long the machine has been suspended in total, from a time on.
  struct Suspension {
    Time since, suspended;
  };

  Time suspended() const;  // so far
  Time suspended_by(Time time) const;

  const bool fast_;
  mutable std::mutex mutex_;
  std::vector<Suspension> suspensions_;  // the first: before the clock was created
  Time last_check_;                      // time of the last check for a suspension
  // From monotonic time plus suspended time to the wall clock, in microseconds.
  mutable std::atomic<int64_t> offset_;
  std::atomic<Time> latest_;
};

}  // namespace luminance
