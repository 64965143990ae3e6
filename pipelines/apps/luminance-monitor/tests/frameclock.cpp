// SPDX-License-Identifier: LGPL-2.1-or-later
// The time of frames that come early, late, all at once or without timestamps.
#include "capture/frameclock.h"

#include <gtest/gtest.h>

#include <random>

namespace luminance {
namespace {

constexpr Time kBegin = 1000 * kSecond, kFrame = kSecond / 25;

TEST(FrameClock, EvensOutArrivals) {
  std::mt19937 random(5);
  std::uniform_int_distribution<Time> late(0, kSecond / 5);
  FrameClock clock(false, 0);
  Time before = clock.time_of(kBegin, 0);
  EXPECT_EQ(before, kBegin);
  for (int i = 1; i < 1000; ++i) {
    const Time time = clock.time_of(kBegin + i * kFrame + late(random), i * kFrame);
    EXPECT_EQ(time - before, kFrame);
    before = time;
  }
}

/// Simulates a busy machine: frames are held up for `pause` seconds, then arrive all at once.
void hold_up(double pause) {
  FrameClock clock(false, 0);
  Time before = 0, held_until = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i % 100 == 99) held_until = kBegin + i * kFrame + seconds(pause);
    const Time now = std::max(kBegin + i * kFrame, held_until);
    const Time time = clock.time_of(now, i * kFrame);
    EXPECT_GT(time, before) << "frame " << i;
    EXPECT_LE(std::abs(time - now), seconds(0.6)) << "frame " << i;
    before = time;
  }
}

TEST(FrameClock, NeverGoesBackWhenFramesAreHeldUp) {
  for (const double pause : {0.1, 0.49, 0.51, 0.8, 1.7, 3.9}) {
    SCOPED_TRACE(pause);
    hold_up(pause);
  }
}

TEST(FrameClock, NeverGoesBackWhenAVideoStartsAgain) {
  Time end = 0;
  for (int pass = 0; pass < 10; ++pass) {
    FrameClock clock(false, end);
    const Time begin = kBegin + pass * 3 * kSecond;
    // The second frame is late, the following ones are not.
    for (int i = 0; i < 75; ++i) {
      const Time now = begin + i * kFrame + (i == 1 ? seconds(0.9) : 0);
      const Time time = clock.time_of(std::max(now, begin + seconds(i > 0 ? 0.9 : 0)), i * kFrame);
      EXPECT_GE(time, end) << "frame " << i << " of pass " << pass;
      end = clock.end();
    }
  }
}

TEST(FrameClock, FollowsTheClockWhenTimestampsJump) {
  FrameClock clock(false, 0);
  clock.time_of(kBegin, 50 * kSecond);
  EXPECT_EQ(clock.time_of(kBegin + kSecond, 0), kBegin + kSecond);
  EXPECT_EQ(clock.time_of(kBegin + 2 * kSecond, 900 * kSecond), kBegin + 2 * kSecond);
  EXPECT_EQ(clock.time_of(kBegin + 3 * kSecond, 901 * kSecond), kBegin + 3 * kSecond);
}

TEST(FrameClock, UsesTheArrivalTimeWithoutATimestamp) {
  FrameClock clock(false, 0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(clock.time_of(kBegin + i * kSecond, std::nullopt), kBegin + i * kSecond);
}

TEST(FrameClock, FollowsTimestampsInFastMode) {
  FrameClock clock(true, kBegin);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(clock.time_of(7, i * kFrame), kBegin + i * kFrame);
  EXPECT_EQ(clock.end(), kBegin + 50 * kFrame);
  FrameClock next(true, clock.end());
  EXPECT_EQ(next.time_of(9, 4 * kSecond), kBegin + 50 * kFrame);
  // A single picture lasts a second.
  EXPECT_EQ(next.end(), kBegin + 50 * kFrame + kSecond);
}

}  // namespace
}  // namespace luminance
