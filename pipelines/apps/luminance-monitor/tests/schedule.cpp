// SPDX-License-Identifier: LGPL-2.1-or-later
// Rules by the time of day: how they are read, and that they follow the local time.
#include "settings/schedule.h"

#include <glib.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "settableclock.h"
#include "settings/changes.h"
#include "settings/commandline.h"
#include "watch/monitor.h"

namespace luminance {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDark = static_cast<size_t>(Verdict::kTooDark);
constexpr const char *kCamera = "[[cameras]]\nuri = 'rtsp://a'\n";

class Schedule : public ::testing::Test {
 protected:
  Schedule() {
    gchar *name = g_dir_make_tmp("luminance-XXXXXX", nullptr);
    folder_ = name;
    g_free(name);
  }
  ~Schedule() override { fs::remove_all(folder_); }

  Settings config(const std::string &text, std::vector<std::string> more = {}) const {
    const std::string file = folder_ / "c.toml";
    std::ofstream(file) << text;
    more.insert(more.begin(), {"luminance-monitor", "--config", file});
    std::vector<char *> pointers;
    for (std::string &argument : more) pointers.push_back(argument.data());
    return read_command_line(static_cast<int>(pointers.size()), pointers.data()).settings;
  }
  std::string error_in(const std::string &text) const {
    try {
      config(text + "\n" + kCamera);
    } catch (const SettingsError &error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

/// Returns the too-dark rule of a camera at a time such as "20:00".
Rule dark_at(const CameraSettings &camera, const std::string &time) {
  const auto minute = static_cast<unsigned>(60 * std::stoi(time) + std::stoi(time.substr(3)));
  EXPECT_EQ(time_of_day(minute), time);
  return rules_at(minute, camera.rules, camera.schedules)[kDark];
}

/// Returns `raise` of no-frames of a polled camera, at night and by day.
std::pair<double, double> silence_of(const Settings &settings) {
  const CameraSettings &camera = settings.cameras.at(0);
  const auto at = [&](unsigned minute) {
    const Rule rule = rules_at(minute, camera.rules, camera.schedules)[0];
    EXPECT_EQ(clear_error(Verdict::kNoFrames, rule), "");
    return rule.raise;
  };
  return {at(0), at(12 * 60)};
}

TEST_F(Schedule, LeavesTimeForPolledPictures) {
  const auto polled = [](const char *more) {
    return "[[cameras]]\nuri = 'http://a/'\n" + std::string(more);
  };
  const char *night =
      "verdicts.no-frames.schedule = [{ from = '22:00', to = '05:00', raise = 30 }]";
  using Silence = std::pair<double, double>;
  EXPECT_EQ(silence_of(config(polled(""))), Silence(5, 5));
  EXPECT_EQ(silence_of(config(polled("snapshot-interval = 0.5"))), Silence(5, 5));
  EXPECT_EQ(silence_of(config(polled("snapshot-interval = 20"))), Silence(40, 40));
  EXPECT_EQ(silence_of(config(polled("snapshot-interval = 3600"))), Silence(7200, 7200));
  EXPECT_EQ(silence_of(config(polled("snapshot-interval = 20\nverdicts.no-frames.raise = 60"))),
            Silence(60, 60));
  const std::string scheduled = polled("snapshot-interval = 10\n") + night;
  EXPECT_EQ(silence_of(config(scheduled)), Silence(30, 20));
  EXPECT_EQ(silence_of(config(polled("snapshot-interval = 25\n") + night)), Silence(50, 50));
  EXPECT_EQ(silence_of(config(scheduled, {"--set=no-frames.raise=2"})), Silence(20, 20));
}

TEST_F(Schedule, CrossesMidnight) {
  const std::string toml = std::string(R"(
[verdicts.too-dark]
raise = 35
hold = 7
schedule = [{ from = "20:00", to = "06:30", raise = 20 },
            { from = "12:00", to = "12:30", enabled = false }])") +
                           "\n" + kCamera;
  const Settings s = config(toml);
  const CameraSettings &camera = s.cameras.at(0);
  for (const char *night : {"20:00", "23:59", "00:00", "06:29"})
    EXPECT_TRUE(dark_at(camera, night) == (Rule{true, 20, 25, 7})) << night;
  for (const char *day : {"06:30", "11:59", "12:30", "19:59"})
    EXPECT_TRUE(dark_at(camera, day) == (Rule{true, 35, 40, 7})) << day;
  EXPECT_TRUE(dark_at(camera, "12:00") == (Rule{false, 35, 40, 7}));
  EXPECT_TRUE(dark_at(camera, "12:29") == (Rule{false, 35, 40, 7}));
  EXPECT_EQ(all_rules(Verdict::kTooDark, camera.rules, camera.schedules).size(), 3u);
}

TEST_F(Schedule, IsThatOfAllCamerasUnlessACameraHasItsOwn) {
  const Settings s = config(R"(
verdicts.too-dark.schedule = [{ from = "20:00", to = "06:00", raise = 20, clear = 30, hold = 60 }]
[[cameras]]
uri = 'rtsp://a'
[[cameras]]
uri = 'rtsp://b'
verdicts.too-dark = { raise = 25, hold = 9 }
[[cameras]]
uri = 'rtsp://c'
verdicts.too-dark.schedule = [{ from = "21:00", to = "05:00", hold = 1 }]
[[cameras]]
uri = 'rtsp://d'
verdicts.too-dark.schedule = []
[[cameras]]
uri = 'rtsp://e'
verdicts.too-dark = false
[[cameras]]
uri = 'rtsp://f'
verdicts.too-dark.enabled = false
[[cameras]]
uri = 'rtsp://g'
verdicts.too-dark = { enabled = false, schedule = [{ from = "08:00", to = "18:00", enabled = true }] }
)");
  const auto at = [&](size_t camera, const char *time) { return dark_at(s.cameras[camera], time); };
  EXPECT_TRUE(at(0, "22:00") == (Rule{true, 20, 30, 60}));
  EXPECT_TRUE(at(1, "22:00") == (Rule{true, 20, 30, 60}));
  EXPECT_TRUE(at(1, "12:00") == (Rule{true, 25, 30, 9}));
  EXPECT_TRUE(at(2, "20:30") == (Rule{true, 40, 45, 5}));
  EXPECT_TRUE(at(2, "22:00") == (Rule{true, 40, 45, 1}));
  EXPECT_TRUE(at(3, "22:00") == (Rule{true, 40, 45, 5}));
  for (const size_t off : {4U, 5U})
    for (const char *time : {"12:00", "22:00"}) EXPECT_FALSE(at(off, time).enabled) << off << time;
  EXPECT_TRUE(at(6, "12:00").enabled);
  EXPECT_FALSE(at(6, "18:00").enabled);
}

/// Settings of the command line apply at every time of the day.
TEST_F(Schedule, TheCommandLineOverridesIt) {
  const std::string text =
      std::string(
          "verdicts.too-dark.schedule = [{ from = '20:00', to = '06:00', raise = 20 }]\n"
          "verdicts.frozen.schedule = [{ from = '20:00', to = '06:00', raise = 60 }]\n") +
      kCamera;
  const Settings s = config(text, {"--set", "too-dark.raise=50", "rtsp://b"});
  for (const CameraSettings &camera : s.cameras) {
    EXPECT_EQ(dark_at(camera, "22:00").raise, 50);
    EXPECT_EQ(camera.schedules[static_cast<size_t>(Verdict::kFrozen)].size(), 1u);
  }
  const Settings other =
      config(text, {"--set", R"(too-dark.schedule=[{"from":"21:00","to":"22:00","raise":30}])"});
  EXPECT_EQ(dark_at(other.cameras[0], "21:30").raise, 30);
  EXPECT_EQ(dark_at(other.cameras[0], "23:00").raise, 40);
}

TEST_F(Schedule, NamesWrongValues) {
  const std::string begin = "verdicts.too-dark.schedule = ", path = "verdicts.too-dark.schedule";
  const std::pair<const char *, const char *> cases[] = {
      {"3", " is not a list"},
      {"[3]", "[0] is not a table"},
      {"[{ to = '06:00' }]", "[0].from is missing"},
      {"[{ from = '06:00' }]", "[0].to is missing"},
      {"[{ from = 6, to = '07:00' }]", "[0].from is not a string"},
      {"[{ from = '6:00', to = '07:00' }]", "[0].from is not a time of day"},
      {"[{ from = '06:00', to = '24:00' }]", "[0].to is not a time of day"},
      {"[{ from = '06:60', to = '07:00' }]", "[0].from is not a time of day"},
      {"[{ from = '06-00', to = '07:00' }]", "[0].from is not a time of day"},
      {"[{ from = '', to = '07:00' }]", "[0].from is not a time of day"},
      {"[{ from = '06:00', to = '06:00' }]", "[0].to is the same as from"},
      {"[{ from = '06:00', to = '07:00', rise = 3 }]", "[0].rise is unknown"},
      {"[{ from = '06:00', to = '07:00', raise = 256 }]", "[0].raise is 256"},
      {"[{ from = '06:00', to = '07:00', hold = -1 }]", "[0].hold is -1"},
      {"[{ from = '06:00', to = '07:00', enabled = 1 }]", "[0].enabled must be true or false"},
      {"[{ from = '06:00', to = '07:00', clear = 30 }]", "[0].clear is below raise"},
      {"[{ from = '06:00', to = '07:00', clear = 255 }]", "[0].clear leaves no value"},
      {"[{ from = '06:00', to = '08:00' }, { from = '07:00', to = '07:30' }]",
       "[1] overlaps an earlier period at 07:00"},
      {"[{ from = '20:00', to = '06:30' }, { from = '06:29', to = '07:00' }]",
       "[1] overlaps an earlier period at 06:29"},
      {"[{ from = '20:00', to = '06:00' }, { from = '23:00', to = '20:00' }]",
       "[1] overlaps an earlier period at 00:00"},
  };
  for (const auto &[schedule, expected] : cases) {
    const std::string error = error_in(begin + schedule);
    EXPECT_NE(error.find(path + expected), std::string::npos) << schedule << ": " << error;
  }
  EXPECT_NE(error_in(begin + "[{ from = 06:00:00, to = '07:00' }]").find("\"06:30\""),
            std::string::npos);
  EXPECT_EQ(
      error_in(begin + "[{ from = '06:00', to = '08:00' }, { from = '08:00', to = '06:00' }]"),
      "no error");
  // A schedule that is valid for all cameras may be invalid with a camera's own rule.
  const std::string error = error_in(begin +
                                     "[{ from = '06:00', to = '07:00', clear = 50 }]\n[[cameras]]\n"
                                     "uri = 'rtsp://b'\nverdicts.too-dark.raise = 60\n");
  EXPECT_NE(error.find("cameras[0].verdicts.too-dark.schedule[0].clear is below raise"),
            std::string::npos)
      << error;
}

TEST_F(Schedule, CountsAsAChangeOfTheCamera) {
  const auto with = [&](const std::string &schedule) {
    return config(kCamera + ("verdicts.too-dark.schedule = [" + schedule + "]\n"));
  };
  const Settings before = with("{ from = '06:00', to = '07:00', raise = 30 }");
  EXPECT_EQ(camera_changes(before, before).unchanged, 1u);
  for (const char *other :
       {"", "{ from = '06:01', to = '07:00', raise = 30 }",
        "{ from = '06:00', to = '07:01', raise = 30 }",
        "{ from = '06:00', to = '07:00', raise = 31 }", "{ from = '06:00', to = '07:00' }",
        "{ from = '06:00', to = '07:00', raise = 30, clear = 44 }",
        "{ from = '06:00', to = '07:00', raise = 30, hold = 4 }",
        "{ from = '06:00', to = '07:00', raise = 30, enabled = true }"})
    EXPECT_EQ(camera_changes(before, with(other)).rules.size(), 1u) << other;
}

/// Sets the time zone of the process for the lifetime of the object.
class Zone {
 public:
  explicit Zone(const char *name) {
    setenv("TZ", name, 1);
    tzset();
  }
  ~Zone() {
    unsetenv("TZ");
    tzset();
  }
};

constexpr const char *kBerlin = "CET-1CEST,M3.5.0/2,M10.5.0/3";

std::string local_time(int64_t seconds) { return time_of_day(minute_of_day(seconds * 1000)); }

TEST(MinuteOfDay, IsInLocalTime) {
  constexpr int64_t kSpring = 1774746000, kAutumn = 1792890000;  // 2026, 01:00 UTC: clocks change
  const Zone zone(kBerlin);
  EXPECT_EQ(local_time(kSpring - 1), "01:59");
  EXPECT_EQ(local_time(kSpring), "03:00");
  EXPECT_EQ(local_time(kAutumn - 1), "02:59");
  EXPECT_EQ(local_time(kAutumn), "02:00");
  EXPECT_EQ(local_time(kAutumn + 3600), "03:00");
  const Zone far("IST-5:30");
  EXPECT_EQ(local_time(kSpring), "06:30");
  EXPECT_EQ(minute_of_day(int64_t{1} << 60), 0u);
}

/// A period whose begin the clock jumps over begins late; one that the clock goes through twice
/// lasts longer. A period ends when the clock shows its end.
TEST(MinuteOfDay, PeriodsFollowTheClockWhenItIsSet) {
  constexpr int64_t kSpring = 1774746000, kAutumn = 1792890000;
  const Zone zone(kBerlin);
  Schedules schedules;
  Period period;
  period.from = 150, period.to = 240;  // 02:30 to 04:00
  period.raise = 10;
  schedules[kDark] = {period};
  const auto minutes = [&](int64_t around) {
    int count = 0;
    for (int64_t time = around - 7200; time < around + 4 * 3600; time += 60)
      count += rules_at(minute_of_day(time * 1000), default_rules(), schedules)[kDark].raise == 10;
    return count;
  };
  EXPECT_EQ(minutes(kSpring), 60);
  EXPECT_EQ(minutes(kAutumn), 120);
}

/// Plays a camera from 7:55 local time on. The given period lasts from 8:00 to 8:10.
class Morning : public Observer {
 public:
  explicit Morning(Period period) {
    Settings settings;
    settings.cameras.resize(1);
    CameraSettings &camera = settings.cameras[0];
    camera.id = "a";
    for (Rule &rule : camera.rules) rule.enabled = false;
    camera.rules[kDark] = {true, 40, 45, 5};
    period.from = 480, period.to = 490;
    camera.schedules[kDark] = {period};
    test::clocks = test::kBegin;
    test::advance(-300);
    clock_ = std::make_unique<Clock>(false);
    monitor_ = std::make_unique<Monitor>(settings, *clock_);
    monitor_->add(*this);
  }

  void on_change(const Camera &, const Change &change) override { changes.push_back(change); }
  void on_rules(const Camera &camera) override {
    rules.emplace_back(minutes(), camera.rules()[kDark].raise);
  }
  /// Returns the whole minutes since 8:00.
  static int minutes() {
    return static_cast<int>((test::clocks.real - test::kBegin.real) / kSecond / 60);
  }
  void run(double length, double mean) {
    for (; length > 0; length -= 1) {
      test::advance(1);
      Measurement frame;
      frame.time = clock_->now();
      frame.frames = 1;
      frame.mean = mean;
      frame.pixels = frame.bins[static_cast<size_t>(mean)] = 100;
      monitor_->take(0, frame);
      monitor_->tick();
    }
  }
  void wait(double length) {
    for (; length > 0; length -= 1) {
      test::advance(1);
      monitor_->tick();
    }
  }
  void set_rules(const Rules &rules, const Schedules &schedules) {
    monitor_->set_rules(0, rules, schedules);
  }
  const Camera &camera() const { return *monitor_->cameras()[0]; }

  std::vector<Change> changes;
  std::vector<std::pair<int, double>> rules;

 private:
  const Zone zone_{"UTC0"};
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Monitor> monitor_;
};

TEST(Monitor, UsesTheRulesOfTheTimeOfDay) {
  Period period;
  period.raise = 20;
  Morning morning(period);
  EXPECT_EQ(morning.camera().rules()[kDark].raise, 40);
  morning.run(240, 50);
  EXPECT_TRUE(morning.changes.empty());
  morning.run(1200, 32);  // too dark except from 8:00 to 8:10
  EXPECT_EQ(morning.rules, (std::vector<std::pair<int, double>>{{0, 20}, {10, 40}}));
  ASSERT_EQ(morning.changes.size(), 3u);
  EXPECT_TRUE(morning.changes[0].raised);
  EXPECT_FALSE(morning.changes[1].raised);
  EXPECT_TRUE(morning.changes[2].raised);
  EXPECT_EQ(morning.changes[1].time - morning.changes[0].time, 59 * kSecond);
  EXPECT_EQ(morning.changes[2].time - morning.changes[1].time, 600 * kSecond);
}

/// A standing verdict is judged by the new thresholds. It stands on while its value is beyond them.
TEST(Monitor, AVerdictStandsOnWhenAPeriodBegins) {
  Period period;
  period.raise = 35, period.hold = 60;
  Morning morning(period);
  morning.run(200, 50);
  morning.run(1000, 38);  // the period's clear is 40
  ASSERT_EQ(morning.changes.size(), 1u);
  EXPECT_EQ(morning.camera().standing().at(0).since, morning.changes[0].time);
}

TEST(Monitor, APeriodWithoutAVerdictClearsIt) {
  Period period;
  period.enabled = false;
  Morning morning(period);
  morning.run(200, 30);
  ASSERT_EQ(morning.camera().standing().size(), 1u);
  morning.run(110, 30);
  ASSERT_EQ(morning.changes.size(), 2u);
  EXPECT_FALSE(morning.changes[1].raised);
  EXPECT_EQ(morning.changes[1].value, 30);
  EXPECT_EQ(morning.changes[1].cause, Cause::kRules);
  EXPECT_TRUE(morning.camera().standing().empty());
  morning.run(580, 30);
  EXPECT_EQ(morning.changes.size(), 2u);
  morning.run(30, 30);
  EXPECT_EQ(morning.changes.size(), 3u);
}

/// New rules apply at once, by the time of day, and keep the state of the camera.
TEST(Monitor, TakesNewRulesOfARunningCamera) {
  Period period;
  period.raise = 20;
  Morning morning(period);
  morning.run(100, 30);
  ASSERT_EQ(morning.changes.size(), 1u);
  const Time since = morning.changes[0].time;
  const uint64_t frames = morning.camera().frames();
  Rules rules = morning.camera().settings().rules;
  rules[kDark] = {true, 35, 38, 5};
  morning.set_rules(rules, {});
  EXPECT_EQ(morning.rules, (std::vector<std::pair<int, double>>{{-3, 35}}));
  EXPECT_FALSE(morning.camera().has_schedule());
  ASSERT_EQ(morning.camera().standing().size(), 1u);
  EXPECT_EQ(morning.camera().standing()[0].since, since);
  EXPECT_EQ(morning.camera().standing()[0].threshold, 35);
  EXPECT_EQ(morning.camera().frames(), frames);
  EXPECT_EQ(morning.camera().status(), Status::kPlaying);
  EXPECT_TRUE(morning.camera().last_frame());
  morning.run(20, 40);  // good enough for the new rule only
  ASSERT_EQ(morning.changes.size(), 2u);
  EXPECT_EQ(morning.changes[1].cause, Cause::kValue);
  EXPECT_EQ(morning.changes[1].threshold, 38);
  // A period that includes the current minute applies at once.
  Schedules schedules;
  period.from = 470, period.to = 480;
  schedules[kDark] = {period};
  morning.set_rules(rules, schedules);
  EXPECT_EQ(morning.camera().rules()[kDark].raise, 20);
  morning.run(30, 10);
  ASSERT_EQ(morning.camera().standing().size(), 1u);
  rules[kDark].enabled = false;
  morning.set_rules(rules, {});
  EXPECT_TRUE(morning.camera().standing().empty());
  EXPECT_EQ(morning.changes.back().cause, Cause::kRules);
}

TEST(Monitor, APeriodBeginsEvenWithoutFrames) {
  Period period;
  period.raise = 20;
  Morning morning(period);
  morning.wait(1000);
  EXPECT_EQ(morning.rules, (std::vector<std::pair<int, double>>{{0, 20}, {10, 40}}));
}

}  // namespace
}  // namespace luminance
