// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/clock.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "watch/suspend.h"

namespace luminance {
namespace {

constexpr int64_t kSet = 20000;  // microseconds; a larger change: the machine's clock was set

template <class Of>
int64_t microseconds_of() {
  const auto since = Of::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

Time monotonic() { return microseconds_of<std::chrono::steady_clock>(); }
int64_t real() { return microseconds_of<std::chrono::system_clock>(); }

}  // namespace

Clock::Clock(bool fast)
    : fast_(fast),
      suspensions_({{0, time_suspended()}}),
      last_check_(monotonic()),
      offset_(real() - monotonic() - suspensions_.back().suspended),
      latest_(monotonic()) {}

Time Clock::now() const { return fast_ ? latest_.load() : monotonic(); }

int64_t Clock::wall(Time time) const {
  const int64_t offset = real() - monotonic() - suspended();
  // The offset jitters by the time between the readings, but the result must stay the same.
  if (!fast_ && std::abs(offset - offset_) > kSet) offset_ = offset;
  return (time + suspended_by(time) + offset_) / 1000;
}

void Clock::check_suspend() {
  const Time suspended = time_suspended(), now = monotonic();
  // The two clocks are not read at once. A short suspension is treated as if the clock was set.
  if (suspended - this->suspended() > kSecond / 2) {
    const std::lock_guard<std::mutex> lock(mutex_);
    suspensions_.push_back({last_check_, suspended});
  }
  last_check_ = now;
}

Time Clock::suspended() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return suspensions_.back().suspended;
}

Time Clock::suspended_by(Time time) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto suspension = suspensions_.rbegin(); suspension != suspensions_.rend(); ++suspension)
    if (time > suspension->since) return suspension->suspended;
  return suspensions_.front().suspended;
}

void Clock::advance(Time time) {
  Time before = latest_;
  while (before < time && !latest_.compare_exchange_weak(before, time)) {
  }
}

}  // namespace luminance
