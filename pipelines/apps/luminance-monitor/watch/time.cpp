// SPDX-License-Identifier: LGPL-2.1-or-later
#include "time.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

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

Clock::Clock(bool fast) : fast_(fast), offset_(real() - monotonic()), latest_(monotonic()) {}

Time Clock::now() const { return fast_ ? latest_.load() : monotonic(); }

int64_t Clock::wall(Time time) const {
  const int64_t offset = real() - monotonic();
  // It trembles by what lies between the two readings: the same time has to stay the same.
  if (!fast_ && std::abs(offset - offset_) > kSet) offset_ = offset;
  return (time + offset_) / 1000;
}

void Clock::advance(Time time) {
  Time before = latest_;
  while (before < time && !latest_.compare_exchange_weak(before, time)) {
  }
}

}  // namespace luminance
