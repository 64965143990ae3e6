// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of a camera after a silence, after a loss, and when time goes back.
#include "watch/camera.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace luminance {
namespace {

constexpr Time kFrame = kSecond / 10;

/// Returns a frame with pixels around `mean`. No two frames have the same histogram.
Measurement frame_of(Time time, double mean) {
  static uint64_t different = 0;
  Measurement m;
  m.time = time;
  m.frames = 1;
  m.mean = mean;
  m.p1 = m.p5 = 50, m.p95 = m.p99 = 150;
  m.bins[static_cast<size_t>(mean)] = 1000000;
  m.bins[255] = ++different % 1000;
  for (const uint64_t count : m.bins) m.pixels += count;
  return m;
}

class CameraTest : public testing::Test {
 protected:
  static CameraSettings settings() {
    CameraSettings settings;
    settings.rules = default_rules();
    return settings;
  }

  void show(Time from, Time until, double mean) {
    for (Time now = from; now < until; now += kFrame) camera_.take(frame_of(now, mean));
  }
  bool stands(Verdict verdict) const {
    const auto standing = camera_.standing();
    return std::any_of(standing.begin(), standing.end(),
                       [=](const Standing &each) { return each.verdict == verdict; });
  }

  Camera camera_{settings(), 1, 0};
};

TEST_F(CameraTest, IsJudgedAnewAfterASilence) {
  show(kFrame, 10 * kSecond, 30);
  EXPECT_TRUE(stands(Verdict::kTooDark));
  camera_.tick(30 * kSecond);
  EXPECT_TRUE(stands(Verdict::kNoFrames));
  EXPECT_FALSE(stands(Verdict::kTooDark));
  EXPECT_EQ(camera_.times_raised(Verdict::kTooDark), 1u);
  show(60 * kSecond, 70 * kSecond, 30);
  EXPECT_TRUE(stands(Verdict::kTooDark));
  EXPECT_EQ(camera_.times_raised(Verdict::kTooDark), 2u);
}

TEST_F(CameraTest, ShowsNoSuddenChangeAfterASilence) {
  show(kFrame, 10 * kSecond, 100);
  show(60 * kSecond, 70 * kSecond, 160);
  EXPECT_EQ(camera_.times_raised(Verdict::kNoFrames), 1u);
  EXPECT_EQ(camera_.times_raised(Verdict::kSuddenChange), 0u);
  show(70 * kSecond, 85 * kSecond, 100);
  EXPECT_EQ(camera_.times_raised(Verdict::kSuddenChange), 1u);
}

TEST(CameraWithoutAHold, ShowsNoSuddenChangeAfterASilence) {
  CameraSettings settings;
  settings.rules = default_rules();
  settings.rules[static_cast<size_t>(Verdict::kSuddenChange)].hold = 0;
  Camera camera(settings, 1, 0);
  for (Time now = kFrame; now < 10 * kSecond; now += kFrame) camera.take(frame_of(now, 100));
  camera.take(frame_of(60 * kSecond, 160));
  EXPECT_EQ(camera.times_raised(Verdict::kSuddenChange), 0u);
  camera.take(frame_of(60 * kSecond + kFrame, 100));
  EXPECT_EQ(camera.times_raised(Verdict::kSuddenChange), 1u);
}

TEST_F(CameraTest, ShowsNoSuddenChangeAfterALoss) {
  show(kFrame, 10 * kSecond, 100);
  camera_.set_status(Status::kWaiting, 10 * kSecond, "lost");
  camera_.set_status(Status::kConnecting, 11 * kSecond, "");
  show(12 * kSecond, 20 * kSecond, 160);
  EXPECT_EQ(camera_.times_raised(Verdict::kSuddenChange), 0u);
}

TEST_F(CameraTest, HasNoVerdictFromFramesWithoutPixels) {
  for (Time now = kFrame; now < 10 * kSecond; now += kFrame) {
    Measurement nothing;
    nothing.time = now;
    nothing.frames = 1;
    camera_.take(nothing);
  }
  EXPECT_TRUE(camera_.standing().empty());
}

TEST_F(CameraTest, CountsReconnectsAndNotTheFirstConnection) {
  camera_.set_status(Status::kConnecting, 1, "");
  camera_.set_status(Status::kPlaying, 2, "");
  EXPECT_EQ(camera_.reconnects(), 0u);
  camera_.set_status(Status::kWaiting, 3, "lost");
  camera_.set_status(Status::kConnecting, 4, "");
  EXPECT_EQ(camera_.reconnects(), 1u);
}

TEST_F(CameraTest, KeepsOnlyTheLastPoints) {
  for (size_t i = 0; i < Camera::kPoints + 100; ++i)
    camera_.take(frame_of(static_cast<Time>(i + 1) * kSecond, 100));
  ASSERT_EQ(camera_.points().size(), Camera::kPoints);
  EXPECT_EQ(camera_.points().front().time, 100 * kSecond);
}

TEST_F(CameraTest, EndsItsIntervalWhenTimeGoesBack) {
  EXPECT_FALSE(camera_.take(frame_of(100 * kSecond, 100)));
  const auto ended = camera_.take(frame_of(10 * kSecond, 50));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->time, 100 * kSecond);
  EXPECT_EQ(ended->frames, 1u);
}

TEST_F(CameraTest, WaitsForLateFrames) {
  camera_.take(frame_of(10 * kSecond, 100));
  EXPECT_FALSE(camera_.tick(11 * kSecond + kSecond / 4));
  EXPECT_FALSE(camera_.take(frame_of(11 * kSecond - kFrame, 100)));
  const auto ended = camera_.tick(12 * kSecond);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->frames, 2u);
}

}  // namespace
}  // namespace luminance
