// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/clock.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "watch/asleep.h"

namespace luminance {
namespace {

constexpr int64_t kSet = 20000;  // somebody has set the machine's clock

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
      sleeps_({{0, time_asleep()}}),
      looked_(monotonic()),
      offset_(real() - monotonic() - sleeps_.back().slept),
      latest_(monotonic()) {}

Time Clock::now() const { return fast_ ? latest_.load() : monotonic(); }

int64_t Clock::wall(Time time) const {
  const int64_t offset = real() - monotonic() - slept();
  // It trembles by what lies between the two readings: the same time has to stay the same.
  if (!fast_ && std::abs(offset - offset_) > kSet) offset_ = offset;
  return (time + slept_by(time) + offset_) / 1000;
}

void Clock::watch_sleep() {
  const Time slept = time_asleep(), now = monotonic();
  // The two clocks that tell it are not read at once. A short sleep is as if the clock was set.
  if (slept - this->slept() > kSecond / 2) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sleeps_.push_back({looked_, slept});
  }
  looked_ = now;
}

Time Clock::slept() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sleeps_.back().slept;
}

Time Clock::slept_by(Time time) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto sleep = sleeps_.rbegin(); sleep != sleeps_.rend(); ++sleep)
    if (time > sleep->since) return sleep->slept;
  return sleeps_.front().slept;
}

void Clock::advance(Time time) {
  Time before = latest_;
  while (before < time && !latest_.compare_exchange_weak(before, time)) {
  }
}

}  // namespace luminance
