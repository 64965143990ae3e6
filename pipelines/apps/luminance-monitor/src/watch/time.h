// SPDX-License-Identifier: LGPL-2.1-or-later
// Time as the monitor counts it.
#pragma once

#include <cstdint>

namespace luminance {

/// Microseconds on a clock that nobody sets. A video that is read faster than it plays brings its
/// own time: then it is that of its frames.
using Time = int64_t;

constexpr Time kSecond = 1000000;

constexpr Time seconds(double count) { return static_cast<Time>(count * kSecond); }

}  // namespace luminance
