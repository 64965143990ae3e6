// SPDX-License-Identifier: LGPL-2.1-or-later
// A late main loop or a suspended machine does not make cameras silent.
#include <gtest/gtest.h>

#include "settableclock.h"
#include "watch/monitor.h"
#include "watch/suspend.h"

namespace luminance {

// Replaces the function of the library.
Time asleep = 5 * 3600 * kSecond;
Time time_suspended() { return asleep; }

namespace {

Settings one_camera() {
  Settings settings;
  settings.cameras.resize(1);
  for (Rule &rule : settings.cameras[0].rules) rule.enabled = false;
  const auto silence = static_cast<size_t>(Verdict::kNoFrames);
  settings.cameras[0].rules[silence] = default_rules()[silence];
  return settings;
}

/// Runs a monitor as its main loop does.
class Loop : public Observer {
 public:
  Loop() : monitor_(one_camera(), clock_) { monitor_.add(*this); }

  void on_change(const Camera &, const Change &change) override { changes.push_back(change); }

  void frame() {
    Measurement frame;
    frame.time = clock_.now();
    frame.frames = 1;
    monitor_.take(0, frame);
  }
  /// Runs this long, with a tick every `period` seconds, after a frame if there are frames.
  void run(double length, double period, bool has_frames) {
    for (double time = 0; time < length; time += period) {
      test::advance(period);
      if (has_frames) frame();
      tick();
    }
  }
  void tick() { monitor_.tick(); }
  const Camera &camera() const { return *monitor_.cameras()[0]; }

  std::vector<Change> changes;

 private:
  Clock clock_{false};
  Monitor monitor_;
};

TEST(Late, ABlockedLoopDoesNotMakeACameraSilent) {
  for (const double blocked : {3.0, 4.9, 6.0, 30.0, 3600.0}) {
    Loop loop;
    loop.run(10, 0.2, true);
    test::advance(blocked);
    loop.tick();  // before the waiting frames
    loop.tick();
    loop.run(10, 0.2, true);
    EXPECT_TRUE(loop.changes.empty()) << blocked;
  }
}

TEST(Late, ABlockedLoopDoesNotMakeACameraSilentIfAFrameComesFirst) {
  Loop loop;
  loop.run(10, 0.2, true);
  test::advance(60);
  loop.frame();
  loop.run(10, 0.2, true);
  EXPECT_TRUE(loop.changes.empty());
}

TEST(Late, ManyShortBlocksDoNotMakeACameraSilent) {
  Loop loop;
  loop.run(10, 0.2, true);
  for (int i = 0; i < 4; ++i) test::advance(2), loop.tick();
  EXPECT_TRUE(loop.changes.empty());
}

TEST(Late, ACameraHasAllItsTimeAgainAfterALongStop) {
  Loop loop;
  loop.run(10, 0.2, true);
  loop.run(4.5, 0.2, false);
  test::advance(60);
  loop.run(4.5, 0.2, false);
  EXPECT_TRUE(loop.changes.empty());
  loop.run(1, 0.2, false);
  EXPECT_EQ(loop.changes.size(), 1u);
}

TEST(Late, AReportedSilenceStays) {
  Loop loop;
  loop.run(10, 0.2, true);
  loop.run(6, 0.2, false);
  ASSERT_EQ(loop.changes.size(), 1u);
  for (const double blocked : {2.0, 60.0}) {
    test::advance(blocked);
    loop.run(1, 0.2, false);
  }
  EXPECT_EQ(loop.changes.size(), 1u);
  loop.frame();
  ASSERT_EQ(loop.changes.size(), 2u);
  EXPECT_FALSE(loop.changes[1].raised);
}

TEST(Late, ALoopThatIsAlwaysLateStillFindsASilentCamera) {
  Loop loop;
  loop.run(60, 2, true);
  EXPECT_TRUE(loop.changes.empty());
  loop.run(60, 2, false);
  ASSERT_EQ(loop.changes.size(), 1u);
  EXPECT_EQ(loop.changes[0].verdict, Verdict::kNoFrames);
}

/// While the machine is suspended, the monotonic clock stands still and the wall clock continues.
TEST(Suspension, DoesNotMoveEarlierTimes) {
  Clock clock(false);
  const Time before = clock.now();
  const int64_t wall = clock.wall(before);
  test::advance(0.2);
  clock.check_suspend();
  for (const Time length : {3600 * kSecond, 7 * kSecond}) {
    const Time last = clock.now();
    const int64_t wall_of_last = clock.wall(last);
    asleep += length;
    test::clocks.real += length;
    test::advance(0.1);
    clock.check_suspend();
    EXPECT_EQ(clock.wall(last), wall_of_last);
    EXPECT_EQ(clock.wall(clock.now()), test::clocks.real / 1000);
    test::advance(0.2);
    clock.check_suspend();
    EXPECT_EQ(clock.wall(clock.now()), test::clocks.real / 1000);
  }
  EXPECT_EQ(clock.wall(before), wall);
  // Setting the clock moves earlier times, too.
  test::clocks.real += 60 * kSecond;
  EXPECT_EQ(clock.wall(before), wall + 60000);
}

TEST(Suspension, DoesNotMakeACameraSilent) {
  Loop loop;
  loop.run(10, 0.2, true);
  asleep += 3600 * kSecond;
  test::clocks.real += 3600 * kSecond;
  loop.run(4, 0.2, false);
  loop.run(10, 0.2, true);
  EXPECT_TRUE(loop.changes.empty());
}

TEST(Late, TheFrameRateStays) {
  Loop loop;
  loop.run(10, 0.2, true);
  ASSERT_NEAR(loop.camera().frame_rate(), 5, 0.1);
  test::advance(8);
  loop.tick();
  EXPECT_GT(loop.camera().frame_rate(), 0);
  EXPECT_TRUE(loop.camera().interval().has_value());
}

}  // namespace
}  // namespace luminance
