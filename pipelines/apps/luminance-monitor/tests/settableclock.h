// SPDX-License-Identifier: LGPL-2.1-or-later
// The clocks of the C++ library in a test program: they stand still until they are set.
#pragma once

#include <cstdint>

namespace luminance::test {

/// Microseconds since an arbitrary time, and since 1970.
struct Clocks {
  int64_t monotonic, real;
};
constexpr Clocks kBegin = {1000000000, 1763798400000000};  // 2025-11-22 08:00 UTC
extern Clocks clocks;

/// Moves both clocks forward.
void advance(double seconds);

}  // namespace luminance::test
