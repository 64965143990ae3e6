// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>

namespace luminance {

/// Returns and prints the seed of a test's random cases. LUMINANCE_TEST_SEED, if it is set, repeats
/// a failed run.
inline unsigned seed() {
  const char *const set = std::getenv("LUMINANCE_TEST_SEED");
  const unsigned seed = set != nullptr ? static_cast<unsigned>(std::strtoul(set, nullptr, 0))
                                       : std::random_device()();
  std::printf("LUMINANCE_TEST_SEED=%u\n", seed);
  return seed;
}

}  // namespace luminance
