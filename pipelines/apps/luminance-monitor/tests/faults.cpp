// SPDX-License-Identifier: LGPL-2.1-or-later
// One fault, one alert: the alerts for verdicts that are raised and cleared, at made-up times.
#include "notify/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "seed.h"

namespace luminance {
namespace {

using Event = Alert::Event;

class FaultsTest : public ::testing::Test {
 protected:
  static FaultLimits limits() {
    FaultLimits limits;
    limits.after = 10 * kSecond;
    limits.settle = 60 * kSecond;
    return limits;
  }

  void raise(double at, Verdict verdict, double began, const std::string &camera = "a",
             double delay = 0) {
    Alert alert;
    alert.camera = camera;
    alert.name = "Camera " + camera;
    alert.verdict = verdict;
    alert.since = static_cast<int64_t>(began * 1000);
    until(at);
    faults.raise(alert, seconds(began), seconds(delay));
  }
  void clear(double at, Verdict verdict, const std::string &camera = "a",
             Cause cause = Cause::kValue) {
    until(at);
    faults.clear(camera, verdict, cause, static_cast<int64_t>(at * 1000), seconds(at));
  }
  /// The camera shows no picture until see(). Clears the verdicts in `standing`.
  void lose(double at, const std::vector<Verdict> &standing, const std::string &camera = "a") {
    until(at);
    for (size_t i = 1; i < kVerdicts; ++i)
      if (Sight &sight = sights[camera][i]; sight != Sight::kOff) sight = Sight::kBlind;
    for (const Verdict verdict : standing) clear(at, verdict, camera, Cause::kSilence);
  }
  /// A frame comes.
  void see(double at, const std::string &camera = "a") {
    until(at);
    for (Sight &sight : sights[camera])
      if (sight != Sight::kOff) sight = Sight::kJudged;
  }
  void turn(double at, Verdict verdict, Sight sight, const std::string &camera = "a") {
    until(at);
    sights[camera][static_cast<size_t>(verdict)] = sight;
  }
  /// Ticks as the monitor does, up to the time `at`.
  void until(double at) {
    for (; now <= seconds(at); now += kSecond / 5) {
      for (const auto &[camera, seen] : sights) {
        faults.look(camera, seen, now / 1000, now);
        faults.set_maintenance(camera, in_maintenance.count(camera) > 0);
      }
      for (const Alert &alert : faults.tick(now)) {
        alerts.push_back(alert);
        times.push_back(now);
      }
    }
  }
  void begin_maintenance(double at, const std::string &camera = "a") {
    until(at);
    in_maintenance.insert(camera);
  }
  void end_maintenance(double at, const std::string &camera = "a") {
    until(at);
    in_maintenance.erase(camera);
  }
  std::vector<Event> events() const {
    std::vector<Event> events;
    for (const Alert &alert : alerts) events.push_back(alert.event);
    return events;
  }

  static constexpr std::array<Sight, kVerdicts> all_judged() {
    std::array<Sight, kVerdicts> all = {};
    for (size_t i = 0; i < kVerdicts; ++i) all[i] = Sight::kJudged;
    return all;
  }

  Faults faults{limits()};
  Time now = 0;
  std::map<std::string, std::array<Sight, kVerdicts>> sights = {
      {"a", all_judged()}, {"b", all_judged()}, {"c", all_judged()}};
  std::set<std::string> in_maintenance;
  std::vector<Alert> alerts;
  std::vector<Time> times;
};

TEST_F(FaultsTest, ReportsAFaultOnceAndItsEndOnce) {
  raise(105, Verdict::kTooDark, 100);
  until(109.7);
  EXPECT_TRUE(alerts.empty()) << "it has not lasted for ten seconds";
  EXPECT_FALSE(faults.stands("a", Verdict::kTooDark));
  until(1000);
  ASSERT_EQ(events(), std::vector{Event::kRaised});
  EXPECT_EQ(times[0], 110 * kSecond);
  EXPECT_EQ(alerts[0].since, 100000);
  EXPECT_EQ(alerts[0].name, "Camera a");
  EXPECT_FALSE(alerts[0].cleared);
  EXPECT_TRUE(faults.stands("a", Verdict::kTooDark));
  clear(1000, Verdict::kTooDark);
  until(1059.7);
  EXPECT_EQ(alerts.size(), 1u) << "it may come back";
  until(2000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kCleared}));
  EXPECT_EQ(times[1], 1060 * kSecond);
  EXPECT_EQ(alerts[1].since, 100000);
  EXPECT_EQ(alerts[1].cleared, 1000000);
  EXPECT_EQ(alerts[1].cause, Cause::kValue);
  EXPECT_FALSE(faults.stands("a", Verdict::kTooDark));
}

TEST_F(FaultsTest, DoesNotReportShortFaults) {
  raise(105, Verdict::kTooDark, 100);
  clear(108, Verdict::kTooDark);
  until(1000);
  EXPECT_TRUE(alerts.empty());
}

TEST_F(FaultsTest, DoesNotReportACameraInMaintenance) {
  begin_maintenance(50);
  raise(105, Verdict::kMoved, 100);
  raise(105, Verdict::kMoved, 100, "b");
  clear(400, Verdict::kMoved);
  until(1000);
  ASSERT_EQ(events(), std::vector{Event::kRaised}) << "of the other camera";
  EXPECT_EQ(alerts[0].camera, "b");
  EXPECT_FALSE(faults.stands("a", Verdict::kMoved));
  end_maintenance(1000);
  until(2000);
  EXPECT_EQ(alerts.size(), 1u) << "it is over";
}

TEST_F(FaultsTest, ReportsLastingFaultsAtTheEndOfMaintenance) {
  begin_maintenance(50);
  raise(105, Verdict::kMoved, 100);
  end_maintenance(999.9);
  until(1001);
  ASSERT_EQ(events(), std::vector{Event::kRaised});
  EXPECT_EQ(times[0], 1000 * kSecond);
  EXPECT_EQ(alerts[0].since, 100000);
}

TEST_F(FaultsTest, ReportsTheEndOfAReportedFaultInMaintenance) {
  FaultLimits reminding = limits();
  reminding.remind = 100 * kSecond;
  faults.set(reminding);
  raise(105, Verdict::kBlurred, 100);
  begin_maintenance(150);
  until(900);
  ASSERT_EQ(events(), std::vector{Event::kRaised}) << "no reminders";
  EXPECT_TRUE(faults.stands("a", Verdict::kBlurred));
  clear(900, Verdict::kBlurred);
  until(2000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kCleared}));
  EXPECT_EQ(times[1], 960 * kSecond);
}

TEST_F(FaultsTest, TakesAFlappingVerdictAsOneFault) {
  for (int i = 0; i < 50; ++i) {
    raise(100 + 30 * i, Verdict::kFlicker, 98 + 30 * i);
    clear(120 + 30 * i, Verdict::kFlicker);
  }
  until(5000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kCleared}));
  EXPECT_EQ(alerts[1].since, 98000);
  EXPECT_EQ(alerts[1].cleared, (120 + 30 * 49) * 1000);
}

TEST_F(FaultsTest, ReportsShortFaultsThatRecur) {
  for (int i = 0; i < 5; ++i) {
    raise(100 + 6 * i, Verdict::kFlicker, 100 + 6 * i);
    clear(103 + 6 * i, Verdict::kFlicker);
  }
  until(1000);
  EXPECT_EQ(events(), (std::vector{Event::kRaised, Event::kCleared}));
}

TEST_F(FaultsTest, WaitsAsLongAsAVerdictNeedsToBeRaisedAgain) {
  raise(160, Verdict::kTooDark, 100, "a", 60);
  clear(300, Verdict::kTooDark);
  until(419.7);
  EXPECT_EQ(alerts.size(), 1u);
  until(421);
  EXPECT_EQ(alerts.size(), 2u);
}

TEST_F(FaultsTest, ReportsNoOtherFaultsWhileFramesAreMissing) {
  raise(100, Verdict::kTooDark, 95);
  until(200);
  ASSERT_EQ(alerts.size(), 1u);
  raise(205, Verdict::kNoFrames, 200);
  lose(205, {Verdict::kTooDark});
  until(900);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kRaised}));
  EXPECT_EQ(alerts[1].verdict, Verdict::kNoFrames);
  EXPECT_TRUE(faults.stands("a", Verdict::kTooDark)) << "as far as anybody knows";
  clear(900, Verdict::kNoFrames);
  see(900);
  raise(906, Verdict::kTooDark, 901);  // as dark as before
  until(2000);
  ASSERT_EQ(alerts.size(), 3u);
  EXPECT_EQ(alerts[2].verdict, Verdict::kNoFrames);
  EXPECT_EQ(alerts[2].event, Event::kCleared);
  clear(2000, Verdict::kTooDark);
  until(3000);
  ASSERT_EQ(alerts.size(), 4u);
  EXPECT_EQ(alerts[3].since, 95000) << "it is one fault";
}

TEST_F(FaultsTest, ReportsTheEndOfAFaultOnceFramesShowIt) {
  raise(100, Verdict::kTooDark, 95);
  raise(205, Verdict::kNoFrames, 200);
  lose(205, {Verdict::kTooDark});
  clear(300, Verdict::kNoFrames);
  see(300);
  until(1000);
  ASSERT_EQ(events(),
            (std::vector{Event::kRaised, Event::kRaised, Event::kCleared, Event::kCleared}));
  for (const size_t i : {2, 3}) EXPECT_NEAR(static_cast<double>(*alerts[i].cleared), 300000, 200);
}

/// Frames are missing here too, but no-frames is off and raises no alert.
TEST_F(FaultsTest, WaitsForFramesEvenIfNoFramesIsOff) {
  turn(0, Verdict::kNoFrames, Sight::kOff);
  raise(100, Verdict::kTooDark, 95);
  lose(205, {Verdict::kTooDark});
  until(4000);
  ASSERT_EQ(events(), std::vector{Event::kRaised}) << "no frame has shown that it is over";
  EXPECT_TRUE(faults.stands("a", Verdict::kTooDark));
  see(4000);
  lose(4030, {});  // before the fault was over
  until(8000);
  ASSERT_EQ(alerts.size(), 1u) << "it may have come back since";
  see(8000);
  raise(8005, Verdict::kTooDark, 8000);
  clear(8100, Verdict::kTooDark);
  until(9000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kCleared}));
  EXPECT_EQ(alerts[1].since, 95000);
  EXPECT_EQ(alerts[1].cleared, 8100000);
  EXPECT_EQ(alerts[1].cause, Cause::kValue);
}

/// A frame that cannot show a verdict does not end its fault: a dark frame shows no moved view.
TEST_F(FaultsTest, WaitsUntilTheVerdictIsJudged) {
  raise(100, Verdict::kMoved, 95);
  lose(205, {Verdict::kMoved});
  see(300);
  turn(300, Verdict::kMoved, Sight::kBlind);
  until(1000);
  ASSERT_EQ(alerts.size(), 1u);
  turn(1000, Verdict::kMoved, Sight::kJudged);
  until(2000);
  EXPECT_EQ(events(), (std::vector{Event::kRaised, Event::kCleared}));
}

/// A fault whose verdict is no longer judged is over; one that is judged, but unseen since, is not.
TEST_F(FaultsTest, EndsOnlyNoFramesWhenItIsTurnedOffDuringSilence) {
  raise(100, Verdict::kTooDark, 95);
  raise(205, Verdict::kNoFrames, 200);
  lose(205, {Verdict::kTooDark});
  clear(300, Verdict::kNoFrames, "a", Cause::kRules);
  turn(300, Verdict::kNoFrames, Sight::kOff);
  until(1000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kRaised, Event::kCleared}));
  EXPECT_EQ(alerts[2].verdict, Verdict::kNoFrames);
  EXPECT_EQ(alerts[2].cause, Cause::kRules);
  turn(1000, Verdict::kNoFrames, Sight::kBlind);  // on again, and the camera is still silent
  raise(1000.4, Verdict::kNoFrames, 200);
  until(2000);
  ASSERT_EQ(alerts.size(), 4u);
  EXPECT_EQ(alerts[3].verdict, Verdict::kNoFrames);
  EXPECT_EQ(alerts[3].event, Event::kRaised);
  clear(2000, Verdict::kNoFrames);
  see(2000);
  until(3000);
  ASSERT_EQ(alerts.size(), 6u);
  for (const size_t i : {4, 5}) EXPECT_EQ(alerts[i].cause, Cause::kValue);
}

TEST_F(FaultsTest, SaysWhyAFaultIsOver) {
  raise(100, Verdict::kTooDark, 95);
  raise(100, Verdict::kMoved, 95);
  raise(100, Verdict::kFrozen, 95);
  clear(200, Verdict::kTooDark, "a", Cause::kRules);
  turn(200, Verdict::kTooDark, Sight::kOff);
  clear(200, Verdict::kMoved, "a", Cause::kReference);
  turn(200, Verdict::kMoved, Sight::kBlind);
  lose(205, {Verdict::kFrozen});
  turn(230, Verdict::kFrozen, Sight::kOff);  // during the silence
  until(1000);
  ASSERT_EQ(alerts.size(), 6u);
  std::map<Verdict, Cause> causes;
  for (size_t i = 3; i < 6; ++i) {
    EXPECT_EQ(alerts[i].event, Event::kCleared);
    causes[alerts[i].verdict] = alerts[i].cause;
  }
  EXPECT_EQ(causes, (std::map<Verdict, Cause>{{Verdict::kTooDark, Cause::kRules},
                                              {Verdict::kMoved, Cause::kReference},
                                              {Verdict::kFrozen, Cause::kRules}}));
}

TEST_F(FaultsTest, KeepsAVerdictThatIsOffForAShortTime) {
  raise(100, Verdict::kTooDark, 95);
  clear(200, Verdict::kTooDark, "a", Cause::kRules);
  turn(200, Verdict::kTooDark, Sight::kOff);
  turn(230, Verdict::kTooDark, Sight::kBlind);  // on again, and no frame yet
  until(1000);
  ASSERT_EQ(alerts.size(), 1u);
  see(1000);
  until(2000);
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alerts[1].cause, Cause::kValue);
}

TEST_F(FaultsTest, DoesNotReportTheEndOfAFaultClearedJustBeforeSilence) {
  raise(100, Verdict::kTooDark, 95);
  clear(180, Verdict::kTooDark);
  raise(205, Verdict::kNoFrames, 200);
  lose(205, {});
  until(1000);
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alerts[1].verdict, Verdict::kNoFrames);
}

TEST_F(FaultsTest, ClosesFaultsOfRemovedCamerasSilently) {
  raise(100, Verdict::kTooDark, 95);
  raise(100, Verdict::kTooDark, 95, "b");
  until(200);
  faults.remove("a", seconds(200));
  sights.erase("a");
  until(1000);
  EXPECT_EQ(alerts.size(), 2u);
  EXPECT_FALSE(faults.stands("a", Verdict::kTooDark));
  EXPECT_TRUE(faults.stands("b", Verdict::kTooDark));
}

TEST_F(FaultsTest, KeepsTheFaultsOfACameraThatIsSetUpAgain) {
  raise(100, Verdict::kTooDark, 95);
  raise(100, Verdict::kFlicker, 95);
  until(200);
  faults.remove("a", seconds(200));
  sights["a"] = {};
  sights["a"].fill(Sight::kBlind);
  faults.add("a");
  see(201);
  raise(208, Verdict::kTooDark, 203);
  until(1000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kRaised, Event::kCleared}));
  EXPECT_EQ(alerts[2].verdict, Verdict::kFlicker);
  EXPECT_TRUE(faults.stands("a", Verdict::kTooDark));
}

/// Only frames show whether a camera that is set up again still has its faults.
TEST_F(FaultsTest, WaitsForFramesOfACameraThatIsSetUpAgain) {
  raise(100, Verdict::kTooDark, 95);
  raise(105, Verdict::kFlicker, 95);
  until(200);
  faults.remove("a", seconds(200));
  sights["a"].fill(Sight::kBlind);
  turn(200, Verdict::kNoFrames, Sight::kOff);
  turn(200, Verdict::kFlicker, Sight::kOff);
  faults.add("a");
  until(1000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kRaised, Event::kCleared}));
  EXPECT_EQ(alerts[2].verdict, Verdict::kFlicker);
  EXPECT_EQ(alerts[2].cause, Cause::kRules);
  EXPECT_TRUE(faults.stands("a", Verdict::kTooDark));
  see(1000);
  until(2000);
  EXPECT_EQ(alerts.size(), 4u);
}

TEST_F(FaultsTest, RemindsOfLastingFaults) {
  FaultLimits wanted = limits();
  wanted.remind = 3600 * kSecond;
  faults.set(wanted);
  raise(100, Verdict::kFrozen, 80);
  until(80 + 3 * 3600 + 100);
  EXPECT_EQ(events(),
            (std::vector{Event::kRaised, Event::kReminder, Event::kReminder, Event::kReminder}));
}

TEST_F(FaultsTest, ReportsOnlyChosenVerdicts) {
  FaultLimits wanted = limits();
  wanted.verdicts = {};
  wanted.verdicts[static_cast<size_t>(Verdict::kTooDark)] = true;
  faults.set(wanted);
  raise(100, Verdict::kTooDark, 95);
  raise(100, Verdict::kFlicker, 95);
  raise(205, Verdict::kNoFrames, 200);
  lose(205, {Verdict::kTooDark, Verdict::kFlicker});
  until(1000);
  ASSERT_EQ(alerts.size(), 1u) << "missing frames count, also where they are not told";
  EXPECT_EQ(alerts[0].verdict, Verdict::kTooDark);
  clear(1000, Verdict::kNoFrames);
  see(1000);
  until(2000);
  EXPECT_EQ(alerts.size(), 2u);
}

TEST_F(FaultsTest, DoesNotReportAgainAfterNewSettings) {
  raise(100, Verdict::kTooDark, 95);
  until(200);
  FaultLimits wanted = limits();
  wanted.after = 0;
  faults.set(wanted);
  until(1000);
  EXPECT_EQ(alerts.size(), 1u);
}

/// Cameras whose frames come and go. One of them does not report its silence.
class RandomFaults : public FaultsTest {
 protected:
  struct Camera {
    bool is_silent = false;
    std::array<bool, kVerdicts> raised = {};
  };

  bool tells_silence(const std::string &camera) const {
    return sights.at(camera)[0] != Sight::kOff;
  }
  void fall_silent(double at, const std::string &id) {
    Camera &camera = cameras[id];
    std::vector<Verdict> standing;
    for (size_t i = 1; i < kVerdicts; ++i)
      if (std::exchange(camera.raised[i], false)) standing.push_back(static_cast<Verdict>(i));
    camera.is_silent = true;
    if (tells_silence(id)) raise(at, Verdict::kNoFrames, at, id);
    lose(at, standing, id);
  }
  void come_back(double at, const std::string &id) {
    if (tells_silence(id)) clear(at, Verdict::kNoFrames, id);
    see(at, id);
    cameras[id].is_silent = false;
  }
  /// Changes a camera: its frames come back or stop, or the verdict is raised or cleared.
  void step(double at, const std::string &id, Verdict verdict) {
    Camera &camera = cameras[id];
    if (camera.is_silent) return come_back(at, id);
    if (verdict == Verdict::kNoFrames) return fall_silent(at, id);
    bool &is_raised = camera.raised[static_cast<size_t>(verdict)];
    if (is_raised)
      clear(at, verdict, id);
    else
      raise(at, verdict, at, id);
    is_raised = !is_raised;
  }
  /// Checks that no fault but no-frames is reported as over while its camera is silent.
  void check_silence(size_t first) const {
    for (size_t i = first; i < alerts.size(); ++i)
      if (alerts[i].event == Event::kCleared && alerts[i].verdict != Verdict::kNoFrames) {
        EXPECT_FALSE(cameras.at(alerts[i].camera).is_silent)
            << alerts[i].camera << " at " << times[i] / kSecond;
      }
  }

  std::map<std::string, Camera> cameras;
};

/// After any sequence of events, the alerts of a fault come in order and each once, no fault ends
/// without a frame that shows it, and all faults are over at the end.
TEST_F(RandomFaults, AreReportedInOrderAndOnce) {
  std::mt19937 random(seed());
  const std::string ids[] = {"a", "b", "c"};
  turn(0, Verdict::kNoFrames, Sight::kOff, "c");
  double time = 0;
  for (int i = 0; i < 6000; ++i) {
    time += static_cast<double>(random() % 400) / 5;
    const size_t known = alerts.size();
    until(time);
    check_silence(known);
    step(time, ids[random() % 3], static_cast<Verdict>(random() % kVerdicts));
  }
  until(time + 1);
  for (const std::string &id : ids) {
    if (cameras[id].is_silent) come_back(time + 1, id);
    for (size_t i = kVerdicts; i-- > 1;)
      if (cameras[id].raised[i]) clear(time + 1, static_cast<Verdict>(i), id);
  }
  until(time + 1000);
  std::map<std::pair<std::string, Verdict>, int64_t> open;
  for (const Alert &alert : alerts) {
    const auto key = std::pair(alert.camera, alert.verdict);
    if (alert.event == Event::kRaised) {
      EXPECT_TRUE(open.emplace(key, alert.since).second) << "told twice";
      continue;
    }
    ASSERT_EQ(open.count(key), 1u) << "over without having begun";
    EXPECT_EQ(open.at(key), alert.since);
    EXPECT_GE(*alert.cleared, alert.since);
    open.erase(key);
  }
  EXPECT_TRUE(open.empty());
  EXPECT_GT(alerts.size(), 100u);
}

}  // namespace
}  // namespace luminance
