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
  /// Advances the time of fast mode to that of a frame that has arrived. Any thread.
  void advance(Time time);

 private:
  /// The total time that the machine has been suspended, which holds from `since` on.
  struct Suspension {
    Time since, suspended;
  };

  Time suspended() const;  // so far
  Time suspended_by(Time time) const;

  const bool fast_;
  mutable std::mutex mutex_;
  std::vector<Suspension> suspensions_;  // the first: before the clock was created
  Time last_check_;                      // time of the last check for a suspension
  // Offset of the wall clock from monotonic time plus suspended time, in microseconds.
  mutable std::atomic<int64_t> offset_;
  std::atomic<Time> latest_;
};

}  // namespace luminance
