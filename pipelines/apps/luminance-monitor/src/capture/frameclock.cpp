// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/frameclock.h"

#include <algorithm>
#include <cstdlib>

namespace luminance {
namespace {

// If timestamps and the clock differ by more than this, the video has restarted, or the machine was
// too busy for it.
constexpr Time kJump = kSecond / 2;

}  // namespace

Time FrameClock::time_of(Time now, std::optional<Time> running_time) {
  if (fast_) return fast_time_of(running_time);
  const Time own = running_time.value_or(now);
  if (!began_ || std::abs(own + offset_ - now) > kJump) offset_ = now - own;
  // Delayed frames arrive all at once. The video is then ahead of the clock, and set back, but no
  // frame may be before the previous one.
  const Time time = std::max<Time>(own + offset_, end_);
  began_ = true;
  end_ = time + 1;
  return time;
}

Time FrameClock::fast_time_of(std::optional<Time> running_time) {
  const Time own = running_time.value_or(last_ + 1);
  if (!began_) offset_ = end_ - own;
  end_ = own + offset_ + (began_ ? own - last_ : kSecond);
  began_ = true;
  last_ = own;
  return own + offset_;
}

}  // namespace luminance
