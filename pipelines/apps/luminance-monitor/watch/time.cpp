// SPDX-License-Identifier: LGPL-2.1-or-later
#include "time.h"

#include <algorithm>
#include <chrono>

namespace luminance {
namespace {

template <class Source>
int64_t microseconds_of() {
  const auto since = Source::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

Time monotonic() { return microseconds_of<std::chrono::steady_clock>(); }
int64_t real() { return microseconds_of<std::chrono::system_clock>(); }

}  // namespace

Clock::Clock(bool fast) : fast_(fast), start_(monotonic()), start_wall_(real()), latest_(start_) {}

Time Clock::now() const { return fast_ ? latest_.load() : monotonic(); }

int64_t Clock::wall(Time time) const {
  const int64_t offset = fast_ ? start_wall_ - start_ : real() - monotonic();
  return (time + offset) / 1000;
}

void Clock::advance(Time time) {
  Time before = latest_;
  while (before < time && !latest_.compare_exchange_weak(before, time)) {
  }
}

}  // namespace luminance
