// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settableclock.h"

#include <chrono>

namespace luminance::test {

Clocks clocks = kBegin;

void advance(double seconds) {
  const auto step = static_cast<int64_t>(seconds * 1e6);
  clocks.monotonic += step;
  clocks.real += step;
}

}  // namespace luminance::test

// These definitions replace those of the shared library.
namespace std::chrono {
inline namespace _V2 {

steady_clock::time_point steady_clock::now() noexcept {
  return time_point(microseconds(luminance::test::clocks.monotonic));
}

system_clock::time_point system_clock::now() noexcept {
  return time_point(microseconds(luminance::test::clocks.real));
}

}  // namespace _V2
}  // namespace std::chrono
