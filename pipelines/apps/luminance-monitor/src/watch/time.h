// SPDX-License-Identifier: LGPL-2.1-or-later
// The unit of time in the monitor.
#pragma once

#include <cstdint>

namespace luminance {

/// Microseconds of a monotonic clock. If files are read faster than they play, the time is that of
/// their frames.
using Time = int64_t;

constexpr Time kSecond = 1000000;

constexpr Time seconds(double count) { return static_cast<Time>(count * kSecond); }

}  // namespace luminance
