// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/suspend.h"

#include <ctime>

namespace luminance {
namespace {

Time read(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec / 1000;
}

}  // namespace

Time time_suspended() {
#ifdef CLOCK_BOOTTIME
  const Time awake = read(CLOCK_MONOTONIC);
  return read(CLOCK_BOOTTIME) - awake;
#else
  return 0;
#endif
}

}  // namespace luminance
