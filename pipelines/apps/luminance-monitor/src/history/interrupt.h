// SPDX-License-Identifier: LGPL-2.1-or-later
// When the statements of a database have to end before they are done.
#pragma once

#include <atomic>
#include <chrono>

namespace luminance {

/// Set by one thread, looked at by another while SQLite works.
class Interrupt {
 public:
  /// From now on.
  void stop() { stopped_ = true; }
  /// Nothing more than the time limit ends statements.
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
