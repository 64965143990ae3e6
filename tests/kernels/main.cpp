// SPDX-License-Identifier: LGPL-2.1-or-later
// Environment variables: CUDATENSOR_TEST_SEED repeats a run; CUDATENSOR_TEST_CASES=25 runs a
// quarter of the random cases and combinations; CUDATENSOR_TEST_CPU=avx512, avx2 or baseline limits
// the CPU backend's instruction sets; CUDATENSOR_TEST_LARGE adds cases that need gigabytes.
#include <hwy/targets.h>
#include <tbb/global_control.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "random.h"

namespace cudatensor {

namespace {

/// Limits the instruction sets. Must be called before the first use of the backend, which selects
/// one only once. Better instruction sets have lower bits.
void limit_instruction_sets() {
  static const std::map<std::string, int64_t> kLevels = {
      {"avx512", HWY_AVX3}, {"avx2", HWY_AVX2}, {"baseline", 0}};
  const char *const level = std::getenv("CUDATENSOR_TEST_CPU");
  if (level == nullptr) return;
  hwy::DisableTargets(kLevels.at(level) - 1);
  std::printf("CUDATENSOR_TEST_CPU=%s\n", level);
}

}  // namespace
}  // namespace cudatensor

int main(int argc, char **argv) {
  // Uses three threads even on a machine with fewer cores.
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 4);
  testing::InitGoogleTest(&argc, argv);
  cudatensor::limit_instruction_sets();
  std::printf("CUDATENSOR_TEST_SEED=%llu\n",
              static_cast<unsigned long long>(cudatensor::test_seed()));
  return RUN_ALL_TESTS();
}
