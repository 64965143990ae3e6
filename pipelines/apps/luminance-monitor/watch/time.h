// SPDX-License-Identifier: LGPL-2.1-or-later
// Time as the monitor counts it, and as people read it.
#pragma once

#include <atomic>
#include <cstdint>

namespace luminance {

/// Microseconds on a clock that nobody sets. A video that is read faster than it plays brings its
/// own time: then it is that of its frames.
using Time = int64_t;

constexpr Time kSecond = 1000000;

constexpr Time seconds(double count) { return static_cast<Time>(count * kSecond); }

class Clock {
 public:
  /// `fast`: time is that of the frames, beginning at now.
  explicit Clock(bool fast);

  bool is_fast() const { return fast_; }
  Time now() const;
  /// Milliseconds since 1970 (UTC), by the machine's clock as it is set now.
  int64_t wall(Time time) const;
  /// Fast only: a frame of this time has come. Any thread.
  void advance(Time time);

 private:
  const bool fast_;
  mutable std::atomic<int64_t> offset_;  // from it to the machine's clock, in microseconds
  std::atomic<Time> latest_;
};

}  // namespace luminance
