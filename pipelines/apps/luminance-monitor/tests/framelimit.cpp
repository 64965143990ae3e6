// SPDX-License-Identifier: LGPL-2.1-or-later
// How many frames are measured when their rate is limited.
#include "capture/framelimit.h"

#include <gtest/gtest.h>

#include <random>

namespace luminance {
namespace {

constexpr Time kBegin = 1000 * kSecond;

/// Returns how many frames are taken in 20 seconds, at `rate` frames per second whose timestamps
/// jitter by `jitter` seconds.
int taken(unsigned limit, double rate, double jitter = 0) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> tremble(-jitter, jitter);
  FrameLimit frames(limit);
  int count = 0;
  for (int i = 0; i < 20 * rate; ++i)
    count += frames.takes(kBegin + seconds(i / rate + tremble(random)));
  return count;
}

TEST(FrameLimit, KeepsTheRate) {
  for (const unsigned limit : {1u, 2u, 5u, 10u, 24u})
    for (const double rate : {25.0, 29.97, 60.0}) {
      EXPECT_NEAR(taken(limit, rate), 20 * limit, 1) << limit << " of " << rate;
      EXPECT_NEAR(taken(limit, rate, 0.01), 20 * limit, 2) << limit << " of " << rate;
    }
}

TEST(FrameLimit, TakesAllFramesOfASlowerVideo) {
  for (const double rate : {0.2, 1.0, 9.0, 10.0}) {
    EXPECT_EQ(taken(10, rate), 20 * rate) << rate;
    EXPECT_EQ(taken(10, rate, 0.01), 20 * rate) << rate;
  }
}

TEST(FrameLimit, DoesNotMakeUpForAPause) {
  FrameLimit limit(1);
  EXPECT_TRUE(limit.takes(kBegin));
  int taken = 0;
  for (int i = 0; i < 10; ++i) taken += limit.takes(kBegin + 30 * kSecond + i * kSecond / 10);
  // The first frame, one to catch up with, and one that is early.
  EXPECT_LE(taken, 3);
}

TEST(FrameLimit, ToleratesTimeJumps) {
  FrameLimit limit(1);
  EXPECT_TRUE(limit.takes(kBegin));
  EXPECT_FALSE(limit.takes(kBegin + kSecond / 2));
  EXPECT_TRUE(limit.takes(0));
  EXPECT_FALSE(limit.takes(kSecond / 2));
  EXPECT_TRUE(limit.takes(kSecond));
  EXPECT_TRUE(limit.takes(kBegin));
}

}  // namespace
}  // namespace luminance
