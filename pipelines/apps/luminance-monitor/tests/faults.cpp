// SPDX-License-Identifier: LGPL-2.1-or-later
// One fault, one alert: what is told of verdicts that are raised and cleared, at made-up times.
#include "notify/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

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
  void clear(double at, Verdict verdict, const std::string &camera = "a") {
    until(at);
    faults.clear(camera, verdict, static_cast<int64_t>(at * 1000), seconds(at));
  }
  /// Ticks as the monitor does, up to then.
  void until(double at) {
    for (; now <= seconds(at); now += kSecond / 5)
      for (const Alert &alert : faults.tick(now)) {
        alerts.push_back(alert);
        times.push_back(now);
      }
  }
  std::vector<Event> events() const {
    std::vector<Event> events;
    for (const Alert &alert : alerts) events.push_back(alert.event);
    return events;
  }

  Faults faults{limits()};
  Time now = 0;
  std::vector<Alert> alerts;
  std::vector<Time> times;
};

TEST_F(FaultsTest, TellsOnceAndOnceWhenItIsOver) {
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
  EXPECT_FALSE(faults.stands("a", Verdict::kTooDark));
}

TEST_F(FaultsTest, DoesNotTellOfWhatIsOverBefore) {
  raise(105, Verdict::kTooDark, 100);
  clear(108, Verdict::kTooDark);
  until(1000);
  EXPECT_TRUE(alerts.empty());
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

TEST_F(FaultsTest, TellsOfShortOnesThatGoOn) {
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

TEST_F(FaultsTest, HasNoNewsOfOthersWhileFramesAreMissing) {
  raise(100, Verdict::kTooDark, 95);
  until(200);
  ASSERT_EQ(alerts.size(), 1u);
  raise(205, Verdict::kNoFrames, 200);
  clear(205, Verdict::kTooDark);  // because there is nothing to judge
  until(900);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kRaised}));
  EXPECT_EQ(alerts[1].verdict, Verdict::kNoFrames);
  EXPECT_FALSE(faults.has_frames("a"));
  EXPECT_TRUE(faults.stands("a", Verdict::kTooDark)) << "as far as anybody knows";
  clear(900, Verdict::kNoFrames);
  EXPECT_TRUE(faults.has_frames("a"));
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

TEST_F(FaultsTest, TellsThatAFaultIsOverOnceFramesShowIt) {
  raise(100, Verdict::kTooDark, 95);
  raise(205, Verdict::kNoFrames, 200);
  clear(205, Verdict::kTooDark);
  clear(300, Verdict::kNoFrames);
  until(1000);
  ASSERT_EQ(events(),
            (std::vector{Event::kRaised, Event::kRaised, Event::kCleared, Event::kCleared}));
  for (const size_t i : {2, 3}) EXPECT_EQ(alerts[i].cleared, 300000);
}

TEST_F(FaultsTest, DoesNotTellOfWhatWasClearedJustBeforeFramesWentMissing) {
  raise(100, Verdict::kTooDark, 95);
  clear(180, Verdict::kTooDark);
  raise(205, Verdict::kNoFrames, 200);
  until(1000);
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alerts[1].verdict, Verdict::kNoFrames);
}

TEST_F(FaultsTest, ClosesFaultsOfRemovedCamerasSilently) {
  raise(100, Verdict::kTooDark, 95);
  raise(100, Verdict::kTooDark, 95, "b");
  until(200);
  faults.remove("a", seconds(200));
  until(1000);
  EXPECT_EQ(alerts.size(), 2u);
  EXPECT_FALSE(faults.stands("a", Verdict::kTooDark));
  EXPECT_TRUE(faults.stands("b", Verdict::kTooDark));
}

TEST_F(FaultsTest, KnowsTheFaultsOfACameraThatIsSetUpAnew) {
  raise(100, Verdict::kTooDark, 95);
  raise(100, Verdict::kFlicker, 95);
  until(200);
  faults.remove("a", seconds(200));
  faults.add("a", 200000, seconds(200));
  raise(208, Verdict::kTooDark, 203);
  until(1000);
  ASSERT_EQ(events(), (std::vector{Event::kRaised, Event::kRaised, Event::kCleared}));
  EXPECT_EQ(alerts[2].verdict, Verdict::kFlicker);
  EXPECT_TRUE(faults.stands("a", Verdict::kTooDark));
}

TEST_F(FaultsTest, RemindsOfWhatLasts) {
  FaultLimits wanted = limits();
  wanted.remind = 3600 * kSecond;
  faults.set(wanted);
  raise(100, Verdict::kFrozen, 80);
  until(80 + 3 * 3600 + 100);
  EXPECT_EQ(events(),
            (std::vector{Event::kRaised, Event::kReminder, Event::kReminder, Event::kReminder}));
}

TEST_F(FaultsTest, TellsChosenVerdictsOnly) {
  FaultLimits wanted = limits();
  wanted.verdicts = {};
  wanted.verdicts[static_cast<size_t>(Verdict::kTooDark)] = true;
  faults.set(wanted);
  raise(100, Verdict::kTooDark, 95);
  raise(100, Verdict::kFlicker, 95);
  raise(205, Verdict::kNoFrames, 200);
  clear(205, Verdict::kTooDark);
  until(1000);
  ASSERT_EQ(alerts.size(), 1u) << "missing frames count, also where they are not told";
  EXPECT_EQ(alerts[0].verdict, Verdict::kTooDark);
  clear(1000, Verdict::kFlicker);
  clear(1000, Verdict::kNoFrames);
  until(2000);
  EXPECT_EQ(alerts.size(), 2u);
}

TEST_F(FaultsTest, DoesNotTellAgainAfterNewSettings) {
  raise(100, Verdict::kTooDark, 95);
  until(200);
  FaultLimits wanted = limits();
  wanted.after = 0;
  faults.set(wanted);
  until(1000);
  EXPECT_EQ(alerts.size(), 1u);
}

/// Whatever happens: alerts of a fault come in order, each once, and at the end all are over.
TEST_F(FaultsTest, KeepsAccountsOfRandomVerdicts) {
  const char *given = std::getenv("CUDATENSOR_TEST_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const std::string cameras[] = {"a", "b", "c"};
  std::map<std::pair<std::string, Verdict>, bool> raised;
  double time = 0;
  for (int i = 0; i < 3000; ++i) {
    time += static_cast<double>(random() % 400) / 5;
    const std::string &camera = cameras[random() % 3];
    const auto verdict = static_cast<Verdict>(random() % kVerdicts);
    bool &is_raised = raised[{camera, verdict}];
    const bool is_blind = raised[{camera, Verdict::kNoFrames}];
    if (is_raised) {
      clear(time, verdict, camera);
      is_raised = false;
    } else if (!is_blind) {
      raise(time, verdict, time, camera);
      is_raised = true;
      if (verdict != Verdict::kNoFrames) continue;
      for (size_t other = 1; other < kVerdicts; ++other)
        if (std::exchange(raised[{camera, static_cast<Verdict>(other)}], false))
          clear(time, static_cast<Verdict>(other), camera);
    }
  }
  for (const std::string &camera : cameras)
    for (size_t i = kVerdicts; i-- > 0;) clear(time, static_cast<Verdict>(i), camera);
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
