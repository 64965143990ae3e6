// SPDX-License-Identifier: LGPL-2.1-or-later
// Random cases that can be repeated: CUDATENSOR_TEST_SEED is the seed of a failed run. On other
// processors, a seed may give other cases, because arguments are evaluated in another order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace cudatensor {

/// Returns the seed from the environment, or a new one for every run.
uint64_t test_seed();
/// Returns the share of the random cases and combinations to run, in percent.
uint64_t test_cases();

/// Returns whether the environment enables tests that need gigabytes.
bool test_large();

/// The random numbers of one case. Does not use the standard library's distributions, which differ
/// between implementations.
class Random {
 public:
  explicit Random(uint64_t number)
      : engine_(test_seed() * 0x9e3779b97f4a7c15u + number), number_(number) {}

  uint64_t bits() { return engine_(); }

  /// Returns a number from low to high, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
  }
  int integer(int low, int high) { return static_cast<int>(between(low, high)); }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  bool chance(int percent) { return integer(1, 100) <= percent; }

  /// Returns whether this case is left out, because the environment asks for fewer cases. `least` is
  /// the percentage of the cases to run at least.
  bool is_left_out(int least = 0) {
    return !chance(std::max(least, static_cast<int>(test_cases())));
  }

  template <class T>
  T pick(const std::vector<T> &values) {
    return values[bits() % values.size()];
  }

  std::string name() const {
    return "CUDATENSOR_TEST_SEED=" + std::to_string(test_seed()) + " case " +
           std::to_string(number_);
  }

 private:
  std::mt19937_64 engine_;
  uint64_t number_;
};

/// Calls `body` with the random numbers of each case, until one fails. `all` is the number of cases
/// if the environment does not limit them.
template <class Body>
void for_cases(uint64_t all, const Body &body) {
  const uint64_t count = (all * test_cases() + 99) / 100;
  for (uint64_t i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    Random random(i);
    SCOPED_TRACE(random.name());
    body(random);
  }
}

}  // namespace cudatensor
