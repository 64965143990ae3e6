// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/fault.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace cudatensor {
namespace {

class FaultTest : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("CUDATENSOR_FAULT");
    arm_faults();
  }

  static void arm(const std::string &value) {
    setenv("CUDATENSOR_FAULT", value.c_str(), 1);
    arm_faults();
  }

  static std::vector<int> next(int count) {
    std::vector<int> codes;
    for (int i = 0; i < count; ++i) codes.push_back(next_fault());
    return codes;
  }
};

TEST_F(FaultTest, NothingFailsWithoutTheVariable) {
  unsetenv("CUDATENSOR_FAULT");
  arm_faults();
  EXPECT_EQ(next(5), (std::vector<int>{0, 0, 0, 0, 0}));
}

TEST_F(FaultTest, OneCallFails) {
  arm("3:700");
  EXPECT_EQ(next(5), (std::vector<int>{0, 0, 700, 0, 0}));
  arm("1:2");
  EXPECT_EQ(next(3), (std::vector<int>{2, 0, 0}));
}

TEST_F(FaultTest, APlusFailsAllLaterCalls) {
  arm("3+:700");
  EXPECT_EQ(next(5), (std::vector<int>{0, 0, 700, 700, 700}));
  arm("1+:2");
  EXPECT_EQ(next(3), (std::vector<int>{2, 2, 2}));
}

TEST_F(FaultTest, TheVariableIsReadWhenFaultsAreArmed) {
  arm("2:35");
  setenv("CUDATENSOR_FAULT", "1+:700", 1);
  EXPECT_EQ(next(3), (std::vector<int>{0, 35, 0}));
}

TEST_F(FaultTest, ArmingCountsAnew) {
  arm("2:100");
  EXPECT_EQ(next(1), (std::vector<int>{0}));
  arm_faults();
  EXPECT_EQ(next(3), (std::vector<int>{0, 100, 0}));
  unsetenv("CUDATENSOR_FAULT");
  arm_faults();
  EXPECT_EQ(next(3), (std::vector<int>{0, 0, 0}));
}

TEST_F(FaultTest, CallsAreCountedWhetherTheyFailOrNot) {
  arm("2+:700");
  EXPECT_EQ(call_count(), 0);
  next(1);
  EXPECT_EQ(call_count(), 1);
  next(6);
  EXPECT_EQ(call_count(), 7);
  arm_faults();
  EXPECT_EQ(call_count(), 0);
}

TEST_F(FaultTest, MalformedValuesFailNothing) {
  for (const char *value : {"", ":", "+", "1", "1:", "1+", "1+:", ":700", "+:700", "x", "1x:700",
                            "x:700", "1 700", "0:700", "0+:700", "-1:700", "-1+:700", "1++:700"}) {
    SCOPED_TRACE(value);
    arm(value);
    EXPECT_EQ(next(4), (std::vector<int>{0, 0, 0, 0}));
  }
}

TEST_F(FaultTest, NumbersMayBeLarge) {
  arm("9000000000:700");
  EXPECT_EQ(next(3), (std::vector<int>{0, 0, 0}));
}

TEST_F(FaultTest, ThreadsShareTheCount) {
  arm("500:700");
  int failures[2] = {};
  const auto work = [](int &failed) {
    for (int i = 0; i < 500; ++i) failed += next_fault() != 0;
  };
  std::thread other(work, std::ref(failures[0]));
  work(failures[1]);
  other.join();
  EXPECT_EQ(failures[0] + failures[1], 1);
  EXPECT_EQ(call_count(), 1000);
}

}  // namespace
}  // namespace cudatensor
