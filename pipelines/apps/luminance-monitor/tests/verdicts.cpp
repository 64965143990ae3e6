// SPDX-License-Identifier: LGPL-2.1-or-later
// At which frame a verdict is raised and cleared.
#include "watch/verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <utility>

#include "watch/camera.h"

namespace luminance {
namespace {

constexpr Time kFrame = kSecond / 10;

/// Returns a frame whose pixels have a luma around `mean`. No two frames have the same histogram.
Measurement frame_of(Time time, double mean, unsigned spread = 100) {
  static uint64_t different = 0;
  Measurement m;
  m.time = time;
  m.frames = 1;
  m.mean = mean;
  m.p1 = m.p5 = 100 - spread / 2, m.p95 = m.p99 = m.p1 + spread;
  m.bins[static_cast<size_t>(mean)] = 1000000;
  m.bins[255] = ++different % 1000;
  for (const uint64_t count : m.bins) m.pixels += count;
  return m;
}

/// Returns rules in which only this verdict can be enabled.
Rules only(Verdict verdict, const Rule &rule) {
  Rules rules = default_rules();
  for (Rule &each : rules) each.enabled = false;
  rules[static_cast<size_t>(verdict)] = rule;
  return rules;
}

Rules only(Verdict verdict) { return only(verdict, default_rules()[static_cast<size_t>(verdict)]); }

struct Play {
  explicit Play(const Rules &rules) : judge(rules, 0) {}

  /// Judges frames of this mean until `end`.
  void until(Time end, double mean, unsigned spread = 100) {
    for (; now < end; now += kFrame)
      for (const Change &change : judge.judge(frame_of(now, mean, spread)))
        changes.push_back(change);
  }

  Judge judge;
  Time now = kFrame;
  std::vector<Change> changes;
};

TEST(Verdicts, HaveUniqueNames) {
  for (size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_EQ(verdict_named(name_of(verdict)), verdict);
    EXPECT_FALSE(title_of(verdict).empty());
    EXPECT_FALSE(quantity_of(verdict).empty());
  }
  EXPECT_FALSE(verdict_named("").has_value());
  EXPECT_FALSE(verdict_named("Too dark").has_value());
}

TEST(Verdicts, HaveAFixedOrder) {
  const std::pair<Verdict, const char *> names[] = {{Verdict::kNoFrames, "no-frames"},
                                                    {Verdict::kFrozen, "frozen"},
                                                    {Verdict::kMoved, "moved"},
                                                    {Verdict::kCovered, "covered"},
                                                    {Verdict::kBlurred, "blurred"},
                                                    {Verdict::kTooDark, "too-dark"},
                                                    {Verdict::kTooBright, "too-bright"},
                                                    {Verdict::kLowContrast, "low-contrast"},
                                                    {Verdict::kFlicker, "flicker"},
                                                    {Verdict::kClippedLow, "clipped-low"},
                                                    {Verdict::kClippedHigh, "clipped-high"},
                                                    {Verdict::kSuddenChange, "sudden-change"}};
  static_assert(std::size(names) == kVerdicts);
  for (const auto &[verdict, name] : names) EXPECT_EQ(name_of(verdict), name);
}

TEST(Verdicts, DefaultsKeepRaisingAndClearingApart) {
  for (size_t i = 0; i < kVerdicts; ++i) {
    const Rule &rule = default_rules()[i];
    EXPECT_TRUE(rule.enabled);
    EXPECT_TRUE(is_bad_above(static_cast<Verdict>(i)) ? rule.clear <= rule.raise
                                                      : rule.clear >= rule.raise);
  }
}

TEST(Verdicts, AreRaisedAfterTheHoldWithItsBegin) {
  Play play(only(Verdict::kTooDark));
  play.until(10 * kSecond, 100);
  play.until(15 * kSecond, 30);  // five seconds less a frame
  EXPECT_TRUE(play.changes.empty());
  play.until(16 * kSecond, 30);
  ASSERT_EQ(play.changes.size(), 1u);
  EXPECT_TRUE(play.changes[0].raised);
  EXPECT_EQ(play.changes[0].time, 10 * kSecond);
  ASSERT_EQ(play.judge.standing().size(), 1u);
  EXPECT_EQ(play.judge.standing()[0].since, 10 * kSecond);
  EXPECT_EQ(play.judge.standing()[0].value, 30);
  EXPECT_EQ(play.judge.standing()[0].threshold, 40);
  EXPECT_EQ(play.changes[0].threshold, 40);
  play.until(30 * kSecond, 47);
  EXPECT_EQ(play.changes.at(1).threshold, 45);
}

TEST(Verdicts, AShortDipRaisesNothing) {
  Play play(only(Verdict::kTooDark));
  for (int i = 0; i < 20; ++i) {
    play.until(play.now + 4 * kSecond, 30);
    play.until(play.now + kFrame, 41);
  }
  EXPECT_TRUE(play.changes.empty());
}

TEST(Verdicts, AJitteringValueDoesNotFlap) {
  Play play(only(Verdict::kTooDark));
  play.until(6 * kSecond, 39);
  ASSERT_EQ(play.changes.size(), 1u);
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> around(36, 45);
  while (play.now < 100 * kSecond) play.until(play.now + kFrame, around(random));
  EXPECT_EQ(play.changes.size(), 1u);
  play.until(106 * kSecond, 46);
  ASSERT_EQ(play.changes.size(), 2u);
  EXPECT_FALSE(play.changes[1].raised);
}

TEST(Verdicts, ExactlyTheThresholdIsStillGood) {
  for (const auto &[verdict, good] :
       {std::pair(Verdict::kTooDark, 40.0), {Verdict::kTooBright, 210.0}}) {
    Play play(only(verdict));
    play.until(20 * kSecond, good);
    EXPECT_TRUE(play.changes.empty()) << name_of(verdict);
  }
}

TEST(Verdicts, AreNeverRaisedIfDisabled) {
  Rule rule = default_rules()[static_cast<size_t>(Verdict::kTooDark)];
  rule.enabled = false;
  Play play(only(Verdict::kTooDark, rule));
  play.until(20 * kSecond, 1);
  play.judge.tick(1000 * kSecond);
  EXPECT_TRUE(play.judge.standing().empty());
}

TEST(Verdicts, LowContrastDependsOnTheRangeAndNotOnTheMean) {
  Play play(only(Verdict::kLowContrast));
  play.until(10 * kSecond, 100, 40);
  play.until(20 * kSecond, 180, 40);
  EXPECT_TRUE(play.changes.empty());
  play.until(30 * kSecond, 100, 20);
  ASSERT_EQ(play.changes.size(), 1u);
  play.until(40 * kSecond, 100, 32);  // not above `clear`
  EXPECT_EQ(play.changes.size(), 1u);
  play.until(50 * kSecond, 100, 34);
  EXPECT_EQ(play.changes.size(), 2u);
}

/// Fog with a clock and a name burnt in: white on black boxes; white and black have 4 % each.
TEST(Verdicts, LowContrastIgnoresAClockInThePicture) {
  Judge judge(only(Verdict::kLowContrast), 0);
  std::vector<Change> changes;
  for (Time now = kFrame; now < 10 * kSecond; now += kFrame) {
    Measurement fog;
    fog.bins[16] = fog.bins[235] = 40;
    for (size_t luma = 108; luma < 128; ++luma) fog.bins[luma] = 46;
    fog.frames = 1, fog.pixels = 1000;
    Measurement frame;  // Adding the histogram computes the statistics.
    gst_cuda_tensor_histogram_add(&frame, &fog);
    frame.time = now;
    for (const Change &change : judge.judge(frame)) changes.push_back(change);
  }
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_LT(changes[0].value, 20);
}

/// Returns a frame in which all pixels have this luma.
Measurement plain(Time time, int luma) {
  Measurement frame = frame_of(time, luma, 1);
  frame.clipped_low = luma <= 16;
  frame.clipped_high = luma >= 235;
  return frame;
}

TEST(Verdicts, OneFaultRaisesOneVerdict) {
  for (const auto &[luma, expected] : {std::pair(10, Verdict::kTooDark), {240, Verdict::kTooBright}}) {
    Play play(default_rules());
    play.until(20 * kSecond, 100);
    for (; play.now < 60 * kSecond; play.now += kFrame)
      for (const Change &change : play.judge.judge(plain(play.now, luma)))
        play.changes.push_back(change);
    play.until(90 * kSecond, 100);
    ASSERT_EQ(play.changes.size(), 2u) << luma;
    for (const Change &change : play.changes) EXPECT_EQ(change.verdict, expected);
    EXPECT_EQ(play.changes[0].time, 20 * kSecond);
    EXPECT_EQ(play.changes[1].time, 60 * kSecond);
  }
}

TEST(Verdicts, AnExplainedVerdictEnds) {
  Rules rules = only(Verdict::kLowContrast);
  Play play(rules);
  play.until(10 * kSecond, 100, 10);
  ASSERT_EQ(play.changes.size(), 1u);
  rules[static_cast<size_t>(Verdict::kTooDark)].enabled = true;
  EXPECT_TRUE(play.judge.set_rules(rules, play.now).empty());
  play.until(20 * kSecond, 30, 10);
  ASSERT_EQ(play.changes.size(), 3u);
  EXPECT_EQ(play.changes[1].verdict, Verdict::kTooDark);
  EXPECT_EQ(play.changes[2].verdict, Verdict::kLowContrast);
  EXPECT_FALSE(play.changes[2].raised);
  EXPECT_EQ(play.changes[2].cause, Cause::kExplained);
  EXPECT_FALSE(play.changes[2].threshold);
  // Without the darkness, the low contrast that remains is a fault again.
  play.until(40 * kSecond, 100, 10);
  ASSERT_EQ(play.changes.size(), 5u);
  EXPECT_EQ(play.changes[3].verdict, Verdict::kTooDark);
  EXPECT_EQ(play.changes[4].verdict, Verdict::kLowContrast);
  EXPECT_TRUE(play.changes[4].raised);
}

/// A verdict explains only less severe ones, so no two verdicts explain each other.
TEST(Verdicts, AreExplainedByMoreSevereOnes) {
  for (size_t i = 0; i < kVerdicts; ++i)
    for (size_t j = 0; j <= i; ++j)
      EXPECT_FALSE(explains(static_cast<Verdict>(i), static_cast<Verdict>(j))) << i << " " << j;
}

/// A plain picture is too dark or has no contrast, and cannot show whether the camera has stopped.
TEST(Verdicts, APlainPictureIsNotFrozen) {
  Judge judge(only(Verdict::kFrozen), 0);
  const Measurement same = frame_of(0, 100, 3);
  for (Time now = kFrame; now < 60 * kSecond; now += kFrame) {
    Measurement frame = same;
    frame.time = now;
    EXPECT_TRUE(judge.judge(frame).empty());
  }
}

TEST(Verdicts, FrozenNeedsTheSameHistogramAllTheTime) {
  Judge judge(only(Verdict::kFrozen), 0);
  Measurement same = frame_of(0, 100);
  std::vector<Change> changes;
  const auto feed = [&](Time from, Time to, Time odd) {
    for (Time now = from; now < to; now += kFrame) {
      Measurement m = same;
      m.time = now;
      if (now == odd) std::swap(m.bins[3], m.bins[100]);
      for (const Change &change : judge.judge(m)) changes.push_back(change);
    }
  };
  feed(kFrame, 30 * kSecond, 15 * kSecond);  // one frame differs: neither half is long enough
  EXPECT_TRUE(changes.empty());
  feed(30 * kSecond, 40 * kSecond, -1);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].time, 15 * kSecond + kFrame);
  feed(40 * kSecond, 41 * kSecond, 40 * kSecond);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_FALSE(changes[1].raised);
  EXPECT_EQ(changes[1].time, 40 * kSecond);
}

TEST(Verdicts, OnlyNoFramesStandsWithoutFrames) {
  Play play(default_rules());
  play.until(10 * kSecond, 30);
  ASSERT_EQ(play.judge.standing().size(), 1u);
  const Time last = play.now - kFrame;
  EXPECT_TRUE(play.judge.tick(last + 5 * kSecond).empty());
  const std::vector<Change> changes = play.judge.tick(last + 5 * kSecond + 1);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].verdict, Verdict::kNoFrames);
  EXPECT_EQ(changes[0].time, last);
  EXPECT_EQ(changes[1].verdict, Verdict::kTooDark);
  EXPECT_FALSE(changes[1].raised);
  EXPECT_EQ(changes[0].cause, Cause::kValue);
  EXPECT_EQ(changes[1].cause, Cause::kSilence);
  EXPECT_FALSE(changes[1].threshold) << "it is not brighter now";
  EXPECT_TRUE(play.judge.is_silent());
  EXPECT_EQ(play.judge.sight_of(Verdict::kTooDark), Sight::kBlind);
  // The first frame clears no-frames, and is not compared with the picture before the silence.
  const std::vector<Change> back = play.judge.judge(frame_of(60 * kSecond, 200));
  ASSERT_EQ(back.size(), 1u);
  EXPECT_FALSE(back[0].raised);
  EXPECT_EQ(back[0].cause, Cause::kValue);
  EXPECT_FALSE(play.judge.is_silent());
  EXPECT_EQ(play.judge.sight_of(Verdict::kTooDark), Sight::kJudged);
}

TEST(Verdicts, TellWhetherTheyAreJudged) {
  Rules rules = default_rules();
  rules[static_cast<size_t>(Verdict::kFlicker)].enabled = false;
  Play play(rules);
  play.judge.tick(kFrame);
  for (const Verdict verdict : {Verdict::kNoFrames, Verdict::kTooDark, Verdict::kFrozen})
    EXPECT_EQ(play.judge.sight_of(verdict), Sight::kBlind) << "no frame has come";
  EXPECT_EQ(play.judge.sight_of(Verdict::kFlicker), Sight::kOff);
  Measurement nothing;  // a frame of which nothing could be measured
  nothing.time = 2 * kFrame;
  play.judge.judge(nothing);
  EXPECT_EQ(play.judge.sight_of(Verdict::kNoFrames), Sight::kJudged);
  EXPECT_EQ(play.judge.sight_of(Verdict::kTooDark), Sight::kBlind);
  play.now = 3 * kFrame;
  play.until(5 * kSecond, 100);
  EXPECT_EQ(play.judge.sight_of(Verdict::kTooDark), Sight::kJudged);
  EXPECT_EQ(play.judge.sight_of(Verdict::kMoved), Sight::kBlind) << "there are no thumbnails";
  play.judge.set_rules(only(Verdict::kFlicker), play.now);
  EXPECT_EQ(play.judge.sight_of(Verdict::kTooDark), Sight::kOff);
  play.judge.set_rules(default_rules(), play.now);
  EXPECT_EQ(play.judge.sight_of(Verdict::kTooDark), Sight::kBlind);
}

/// A camera stays silent even if its silence is not reported.
TEST(Verdicts, TurningNoFramesOffEndsNoSilence) {
  Play play(default_rules());
  play.until(10 * kSecond, 30);
  play.judge.tick(20 * kSecond);
  Rules rules = default_rules();
  rules[static_cast<size_t>(Verdict::kNoFrames)].enabled = false;
  const std::vector<Change> changes = play.judge.set_rules(rules, 30 * kSecond);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].verdict, Verdict::kNoFrames);
  EXPECT_FALSE(changes[0].raised);
  EXPECT_EQ(changes[0].cause, Cause::kRules);
  EXPECT_FALSE(changes[0].threshold);
  play.judge.tick(40 * kSecond);
  EXPECT_TRUE(play.judge.is_silent());
  EXPECT_EQ(play.judge.sight_of(Verdict::kTooDark), Sight::kBlind);
  play.judge.set_rules(default_rules(), 50 * kSecond);
  const std::vector<Change> again = play.judge.tick(50 * kSecond);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].raised);
  play.judge.judge(frame_of(60 * kSecond, 100));
  EXPECT_FALSE(play.judge.is_silent());
}

TEST(Verdicts, NameTheCauseOfTheirEnd) {
  for (const Cause cause : {Cause::kValue, Cause::kSilence, Cause::kRules, Cause::kReference,
                            Cause::kExplained, Cause::kAccepted}) {
    EXPECT_FALSE(name_of(cause).empty());
    EXPECT_FALSE(phrase_of(cause).empty());
  }
}

/// The silence is not reported, but a verdict on frames does not stand without frames.
TEST(Verdicts, NothingStandsWithoutFramesIfNoFramesIsOff) {
  Rules rules = default_rules();
  rules[static_cast<size_t>(Verdict::kNoFrames)].enabled = false;
  Play play(rules);
  play.until(10 * kSecond, 30);
  ASSERT_EQ(play.judge.standing().size(), 1u);
  const Time last = play.now - kFrame;
  EXPECT_TRUE(play.judge.tick(last + 5 * kSecond).empty());
  const std::vector<Change> changes = play.judge.tick(last + 5 * kSecond + 1);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].verdict, Verdict::kTooDark);
  EXPECT_FALSE(changes[0].raised);
  EXPECT_EQ(changes[0].time, last + 5 * kSecond + 1);
  EXPECT_TRUE(play.judge.standing().empty());
  EXPECT_TRUE(play.judge.tick(last + 50 * kSecond).empty());
  // Verdicts are judged again from the first frame on, and are reported again.
  play.changes.clear();
  play.now = 60 * kSecond;
  play.until(66 * kSecond, 30);
  ASSERT_EQ(play.changes.size(), 1u);
  EXPECT_TRUE(play.changes[0].raised);
  EXPECT_EQ(play.changes[0].time, 60 * kSecond);
  EXPECT_EQ(play.judge.tick(play.now + 6 * kSecond).size(), 1u);
}

/// Frames that come back clear no-frames after its hold. The verdicts that they raise stand.
TEST(Verdicts, TheEndOfSilenceClearsNothingElse) {
  Rules rules = default_rules();
  rules[static_cast<size_t>(Verdict::kNoFrames)].hold = 10;
  Play play(rules);
  play.until(10 * kSecond, 30);
  play.judge.tick(17 * kSecond);
  EXPECT_EQ(play.judge.tick(28 * kSecond).size(), 2u);
  play.now = 30 * kSecond;
  play.until(45 * kSecond, 30);
  ASSERT_EQ(play.judge.standing().size(), 1u);
  EXPECT_EQ(play.judge.standing()[0].verdict, Verdict::kTooDark);
  EXPECT_EQ(play.judge.standing()[0].since, 30 * kSecond);
}

TEST(Verdicts, AGapBetweenFramesCountsWithoutATick) {
  Play play(only(Verdict::kNoFrames));
  play.until(10 * kSecond, 100);
  play.now = 30 * kSecond;
  play.until(31 * kSecond, 100);
  ASSERT_EQ(play.changes.size(), 2u);
  EXPECT_TRUE(play.changes[0].raised);
  EXPECT_EQ(play.changes[0].time, 10 * kSecond - kFrame);
  EXPECT_FALSE(play.changes[1].raised);
  EXPECT_EQ(play.changes[1].time, 30 * kSecond);
}

TEST(Verdicts, ACameraThatNeverShowedAFrameHasNoFrames) {
  Judge judge(default_rules(), 0);
  const std::vector<Change> changes = judge.tick(6 * kSecond);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].verdict, Verdict::kNoFrames);
  EXPECT_EQ(changes[0].time, 0);
}

TEST(Verdicts, AChangeStandsUntilThePictureIsBack) {
  Play play(only(Verdict::kSuddenChange));
  play.until(10 * kSecond, 100);
  play.until(500 * kSecond, 160);
  ASSERT_EQ(play.changes.size(), 1u);
  EXPECT_TRUE(play.changes[0].raised);
  EXPECT_EQ(play.changes[0].time, 10 * kSecond);
  play.until(511 * kSecond, 100);
  ASSERT_EQ(play.changes.size(), 2u);
  EXPECT_EQ(play.changes[1].time, 500 * kSecond);
}

TEST(Verdicts, AChangeIsAcceptedAfterTenMinutes) {
  Play play(only(Verdict::kSuddenChange));
  play.until(10 * kSecond, 100);
  play.until(700 * kSecond, 160);
  ASSERT_EQ(play.changes.size(), 2u);
  EXPECT_EQ(play.changes[1].time, 610 * kSecond);
  EXPECT_EQ(play.changes[1].cause, Cause::kAccepted);
  play.until(800 * kSecond, 100);
  ASSERT_EQ(play.changes.size(), 3u);
  EXPECT_TRUE(play.changes[2].raised);
}

/// A change is not accepted as usual while another standing verdict explains it.
TEST(Verdicts, AChangeIsNotAcceptedInTheDark) {
  Play play(default_rules());
  play.until(10 * kSecond, 100);
  play.until(4000 * kSecond, 20);
  ASSERT_EQ(play.changes.size(), 1u);
  EXPECT_EQ(play.changes[0].verdict, Verdict::kTooDark);
  // The picture of an hour ago does not have to come back.
  play.until(4100 * kSecond, 160);
  ASSERT_EQ(play.changes.size(), 2u);
  EXPECT_EQ(play.changes[1].verdict, Verdict::kTooDark);
}

/// For example, the headlights of passing cars.
TEST(Verdicts, AShortChangeRaisesNothing) {
  Play play(only(Verdict::kSuddenChange));
  play.until(10 * kSecond, 100);
  for (int i = 0; i < 20; ++i) {
    play.until(play.now + 8 * kSecond, 160);
    play.until(play.now + 4 * kSecond, 100);
  }
  EXPECT_TRUE(play.changes.empty());
}

TEST(Verdicts, AChangeIsNotForgottenWhileTheCameraIsAway) {
  Play play(default_rules());
  play.until(10 * kSecond, 100);
  play.until(22 * kSecond, 160);
  ASSERT_EQ(play.judge.standing().size(), 1u);
  play.judge.restart();  // as after a reconnection
  play.until(23 * kSecond, 160);
  EXPECT_EQ(play.judge.standing().size(), 1u);
  play.judge.tick(40 * kSecond);  // Only no-frames stands without frames.
  play.now = 40 * kSecond;
  play.until(52 * kSecond, 160);
  ASSERT_EQ(play.judge.standing().size(), 1u);
  EXPECT_EQ(play.judge.standing()[0].verdict, Verdict::kSuddenChange);
}

/// All pixels are still there, but in other places.
TEST(Verdicts, AChangeIsSeenEvenIfTheHistogramIsTheSame) {
  Judge judge(only(Verdict::kSuddenChange), 0);
  Blocks picture;
  for (size_t i = 0; i < Blocks::kCount; ++i)
    picture.means[i] = static_cast<uint16_t>((i < Blocks::kCount / 3 ? 60 : 140) * Blocks::kLuma);
  Measurement frame = frame_of(0, 100);
  std::vector<Change> changes;
  for (Time now = kFrame; now < 25 * kSecond; now += kFrame) {
    if (now == 10 * kSecond) std::reverse(picture.means.begin(), picture.means.end());
    frame.time = now;
    frame.blocks = std::make_shared<Blocks>(picture);
    for (const Change &change : judge.judge(frame)) changes.push_back(change);
  }
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].raised);
  EXPECT_EQ(changes[0].time, 10 * kSecond);
  EXPECT_NEAR(changes[0].value, 2. / 3 * 80, 1);
}

/// On a GPU, only some frames have blocks.
TEST(Verdicts, FramesWithoutBlocksInBetweenChangeNothing) {
  Judge judge(only(Verdict::kFrozen), 0);
  std::vector<Change> changes;
  for (int i = 1; i < 40 * 10; ++i) {
    Measurement frame = frame_of(i * kFrame, 100);
    if (i % 2 == 0) frame.blocks = std::make_shared<Blocks>();
    for (const Change &change : judge.judge(frame)) changes.push_back(change);
  }
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].raised);
}

/// A verdict that is turned on again does not use the picture from before it was turned off.
TEST(Verdicts, AVerdictThatIsTurnedOnAgainStartsAnew) {
  for (const Verdict verdict : {Verdict::kSuddenChange, Verdict::kFrozen}) {
    Play play(only(verdict));
    play.until(10 * kSecond, 100);
    EXPECT_TRUE(play.judge.set_rules(only(verdict, {false, 20, 1, 0}), play.now).empty());
    play.until(12 * kSecond, 160);
    EXPECT_TRUE(play.judge.set_rules(only(verdict), play.now).empty());
    play.until(25 * kSecond, 160);
    EXPECT_TRUE(play.changes.empty()) << name_of(verdict);
  }
  // The picture is the same for 25 seconds, but frozen is on again for only 15 of them.
  Judge judge(only(Verdict::kFrozen), 0);
  for (Time now = kFrame; now < 25 * kSecond; now += kFrame) {
    if (now == 8 * kSecond) judge.set_rules(only(Verdict::kFrozen, {false, 20, 1, 0}), now);
    if (now == 10 * kSecond) judge.set_rules(only(Verdict::kFrozen), now);
    Measurement frame;
    frame.time = now;
    frame.frames = frame.pixels = frame.bins[100] = 1;
    frame.p99 = 100;
    EXPECT_TRUE(judge.judge(frame).empty());
  }
}

/// Silence is not reported while no-frames is off. Afterwards it is reported from its begin.
TEST(Verdicts, NoFramesCanBeTurnedOffAndOn) {
  const Rules on = only(Verdict::kNoFrames), off = only(Verdict::kNoFrames, {false, 5, 5, 0});
  Judge judge(on, 0);
  judge.judge(frame_of(kSecond, 100));
  ASSERT_EQ(judge.tick(10 * kSecond).size(), 1u);
  const std::vector<Change> cleared = judge.set_rules(off, 11 * kSecond);
  ASSERT_EQ(cleared.size(), 1u);
  EXPECT_FALSE(cleared[0].raised);
  EXPECT_EQ(cleared[0].time, 11 * kSecond);
  EXPECT_TRUE(judge.tick(20 * kSecond).empty());
  EXPECT_TRUE(judge.set_rules(on, 21 * kSecond).empty());
  const std::vector<Change> raised = judge.tick(22 * kSecond);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_TRUE(raised[0].raised);
  EXPECT_EQ(raised[0].time, kSecond);
}

TEST(Verdicts, ASlowChangeIsNotSudden) {
  Play play(only(Verdict::kSuddenChange));
  for (double mean = 50; mean < 200; mean += 0.1) play.until(play.now + kFrame, mean);
  EXPECT_TRUE(play.changes.empty());
}

/// Returns the highest flicker value for light of `hertz` that swings by `percent`.
double seen(double rate, double hertz, double percent, double noise = 0, double jitter = 0) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Flicker flicker;
  double max_percent = 0;
  for (int i = 0; i < 10 * rate; ++i) {
    const double time = i / rate, swing = std::sin(2 * M_PI * hertz * time) * percent / 100;
    flicker.add(seconds(100 + time + jitter * normal(random)),
                100 * (1 + swing) + noise * normal(random));
    max_percent = std::max(max_percent, flicker.percent());
  }
  return max_percent;
}

TEST(Flicker, IsMeasuredAtTheRatesThatShowIt) {
  for (const double rate : {12.5, 15.0, 24.0, 25.0, 29.97, 30.0, 48.0, 60.0, 120.0})
    for (const double hertz : {99.9, 100.0, 100.1, 119.9, 120.0, 120.1}) {
      const double alias = std::abs(hertz - rate * std::round(hertz / rate));
      if (alias < 1.3 || std::abs(alias - rate / 2) < 0.5) continue;
      EXPECT_NEAR(seen(rate, hertz, 3), 3, 0.3) << rate << " " << hertz;
      EXPECT_NEAR(seen(rate, hertz, 3, 0.3), 3, 0.5) << rate << " " << hertz;
    }
}

TEST(Flicker, ToleratesJitteringTimestamps) { EXPECT_NEAR(seen(30, 100, 3, 0.1, 0.004), 3, 0.5); }

TEST(Flicker, ToleratesLostFrames) {
  for (const double rate : {12.5, 15.0, 25.0, 30.0}) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> any(0, 1);
    Flicker flicker;
    const double light = rate == 25 ? 120 : 100;
    for (int i = 0; i < 60 * rate; ++i) {
      const double time = i / rate;
      if (any(random) < 0.05) continue;
      flicker.add(seconds(time), 100 + 3 * std::sin(2 * M_PI * light * time));
      if (time > 3) {
        ASSERT_NEAR(flicker.percent(), rate == 12.5 ? 0 : 3, 0.3) << rate << " " << time;
      }
    }
  }
}

TEST(Flicker, IsNotRaisedByOtherChanges) {
  EXPECT_EQ(seen(30, 100, 0), 0);
  EXPECT_LT(seen(30, 100, 0, 2), 0.5);  // noise
  for (const double hertz : {0.3, 1.0, 3.0, 7.0, 14.0})
    EXPECT_LT(seen(30, hertz, 5, 0.1), 0.5) << hertz;
  Flicker steps;
  double max_percent = 0;
  for (int i = 0; i < 300; ++i) {
    steps.add(i * kSecond / 30 + 1, i % 60 < 30 ? 60 : 180);
    max_percent = std::max(max_percent, steps.percent());
  }
  EXPECT_LT(max_percent, 0.5);
}

TEST(Flicker, CannotBeSeenIfTheFrameRateDividesIt) {
  for (const double rate : {5.0, 10.0, 20.0}) EXPECT_EQ(seen(rate, 100, 10), 0) << rate;
}

TEST(Flicker, IsZeroForBlackOrFewFrames) {
  Flicker flicker;
  EXPECT_EQ(flicker.percent(), 0);
  for (int i = 0; i < 200; ++i) {
    flicker.add(i * kSecond / 30, 0);
    EXPECT_EQ(flicker.percent(), 0);
  }
}

TEST(Camera, KnowsItsRate) {
  for (const double rate : {0.3, 0.5, 1.0, 2.0, 10.0, 29.97})
    for (const double interval : {0.1, 1.0, 10.0}) {
      Camera camera(CameraSettings{}, interval, 0);
      Time ticked = 0;
      for (int i = 1; i < 25 * rate + 3; ++i) {
        const Time time = seconds(i / rate);
        for (; ticked < time; ticked += kSecond / 5) camera.tick(ticked);
        camera.take(frame_of(time, 100));
      }
      EXPECT_NEAR(camera.frame_rate(), rate, 0.02 * rate) << rate << " " << interval;
    }
}

}  // namespace
}  // namespace luminance
