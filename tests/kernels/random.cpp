// SPDX-License-Identifier: LGPL-2.1-or-later
#include "random.h"

#include <cstdlib>

namespace cudatensor {

uint64_t test_seed() {
  static const uint64_t seed = [] {
    const char *const given = std::getenv("CUDATENSOR_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  }();
  return seed;
}

uint64_t test_cases() {
  static const uint64_t percent = [] {
    const char *const given = std::getenv("CUDATENSOR_TEST_CASES");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : 100;
  }();
  return percent;
}

bool test_large() { return std::getenv("CUDATENSOR_TEST_LARGE") != nullptr; }

}  // namespace cudatensor
