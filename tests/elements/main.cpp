// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstdio>

#include "../kernels/random.h"
#include "../quarks.h"
#include "backend.h"

/// AddressSanitizer's malloc would otherwise abort if no memory is left.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }

namespace {

class NeedsItsBackend : public testing::Environment {
 public:
  void SetUp() override {
    using cudatensor::TestBackend;
    if (cudatensor::test_backend() == TestBackend::cuda && !cudatensor::gpu_is_there())
      GTEST_SKIP() << "CUDATENSOR_TEST_BACKEND=cuda, but there is no GPU";
  }
};

}  // namespace

int main(int argc, char **argv) {
  // Uses several bands of rows even on a machine with fewer cores.
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 4);
  testing::InitGoogleTest(&argc, argv);
  cudatensor::grow_quarks();
  gst_init(&argc, &argv);
  std::printf("CUDATENSOR_TEST_SEED=%llu\n",
              static_cast<unsigned long long>(cudatensor::test_seed()));
  testing::AddGlobalTestEnvironment(new NeedsItsBackend);
  return RUN_ALL_TESTS();
}
