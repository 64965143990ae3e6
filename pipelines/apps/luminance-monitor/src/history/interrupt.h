// SPDX-License-Identifier: LGPL-2.1-or-later
// Ends the statements of a database early: on request, or at a time limit.
#pragma once

#include <atomic>
#include <chrono>

namespace luminance {

/// One thread sets it; another checks it while SQLite works.
class Interrupt {
 public:
  /// Ends statements from now on, until begin() is called.
  void stop() { stopped_ = true; }
  /// Starts the time limit anew and cancels an earlier stop().
  void begin(std::chrono::milliseconds limit) {
    end_ = (Clock::now() + limit).time_since_epoch().count();
    stopped_ = false;
  }

  bool is_stopped() const { return stopped_; }
  bool is_late() const { return Clock::now().time_since_epoch().count() > end_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::atomic<bool> stopped_{false};
  std::atomic<Clock::rep> end_{Clock::time_point::max().time_since_epoch().count()};
};

}  // namespace luminance
