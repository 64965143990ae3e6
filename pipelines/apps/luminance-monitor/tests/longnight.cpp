// SPDX-License-Identifier: LGPL-2.1-or-later
// A day and a night of 32 cameras, on clocks that the test sets, with random faults of every kind.
// Each fault is reported once and cleared once, nothing else is reported, and the program and its
// database do not grow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "history/database.h"
#include "historyrig.h"
#include "notify/faultwatch.h"
#include "scenerig.h"

namespace luminance::test {
namespace {

constexpr size_t kCameras = 32;
constexpr int kHours = 24;
constexpr Time kHour = 3600 * kSecond;
constexpr Time kThumbnailEvery = 16 * kSecond;
constexpr Time kLearning = 600 * kSecond;                      // before the first fault
constexpr Time kAfter = 10 * kSecond, kSettle = 60 * kSecond;  // limits of the alerts
constexpr Time kMinFault = 240 * kSecond,
               kMaxFault = 480 * kSecond;  // sudden-change ends by itself
// From the end of a fault until its end has been reported and the next fault may begin.
constexpr Time kPause = 600 * kSecond;
// Until a change is certainly seen: three of the five latest thumbnails, and `hold`.
constexpr Time kSeen = 100 * kSecond;
// Bytes: twice the size at which SQLite shortens the write-ahead log.
constexpr double kMaxLog = 2 * 4194304;
constexpr double kStep = 2;  // seconds between frames, and between ticks
constexpr double kFlickerRate = 12.5, kLamp = 120;  // frames and swings per second

struct Fault {
  Verdict verdict = Verdict::kNoFrames;
  Time begin = 0, end = 0;
};

/// The lumas of a picture: each with its percentage, spread over a few neighbours.
using Levels = std::vector<std::pair<int, int>>;

const Levels &levels_of(const std::optional<Verdict> &verdict) {
  static const Levels usual = {{20, 5}, {90, 30}, {120, 30}, {150, 30}, {220, 5}};
  static const Levels dark = {{18, 50}, {25, 40}, {100, 10}};
  static const Levels bright = {{140, 10}, {225, 90}};
  static const Levels pale = {{115, 50}, {125, 50}};
  static const Levels black = {{10, 50}, {150, 30}, {200, 20}};
  static const Levels white = {{50, 30}, {120, 40}, {250, 30}};
  static const Levels other = {{30, 5}, {60, 45}, {180, 45}, {220, 5}};
  if (!verdict) return usual;
  switch (*verdict) {
    case Verdict::kTooDark: return dark;
    case Verdict::kTooBright: return bright;
    case Verdict::kLowContrast: return pale;
    case Verdict::kClippedLow: return black;
    case Verdict::kClippedHigh: return white;
    case Verdict::kSuddenChange: return other;
    default: return usual;
  }
}

/// A camera with noise, whose faults come one after the other.
class MadeUpCamera {
 public:
  explicit MadeUpCamera(unsigned seed) : random_(seed), scene_(scene_of(seed)) {
    for (const auto &change : {usual, shifted, covered, blurred})
      thumbnails_.push_back(thumbnail_seen(scene_, change, random_));
  }

  /// Plans the faults until `end`.
  void plan(Time begin, Time end) {
    const auto between = [&](Time low, Time high) {
      return std::uniform_int_distribution<Time>(low, high)(random_);
    };
    for (Time now = begin + between(0, kPause); now + kMaxFault + kPause < end;) {
      const auto verdict = static_cast<Verdict>(random_() % kVerdicts);
      faults_.push_back({verdict, now, now + between(kMinFault, kMaxFault)});
      now = faults_.back().end + kPause + between(0, kPause);
    }
  }
  const std::vector<Fault> &faults() const { return faults_; }

  /// Sends the frames of this step.
  void send(Time now, const std::function<void(const Measurement &)> &take) {
    while (next_ < faults_.size() && now >= faults_[next_].end) ++next_;
    std::optional<Verdict> fault;
    if (next_ < faults_.size() && now >= faults_[next_].begin) fault = faults_[next_].verdict;
    if (fault == Verdict::kNoFrames) return;
    if (fault == Verdict::kFrozen) return take(at(now, frozen_));
    if (fault != Verdict::kFlicker) return take(frozen_ = frame(now, fault));
    for (int i = 0; i < kStep * kFlickerRate; ++i) {
      Measurement lit = frame(now + seconds(i / kFlickerRate), {});
      lit.mean *= 1 + 0.03 * std::sin(2 * M_PI * kLamp * i / kFlickerRate);
      take(lit);
    }
  }

 private:
  static Measurement at(Time now, Measurement frame) {
    frame.time = now;
    return frame;
  }

  /// Returns one of a few frames: the blocks of a frame make it differ from others.
  Measurement measured(const Levels &levels) {
    std::vector<Measurement> &frames = measured_[&levels];
    if (frames.size() == 16) return frames[random_() % frames.size()];
    std::vector<uint8_t> pixels;
    for (const auto &[luma, share] : levels)
      for (int i = 0; i < 4 * share; ++i)
        pixels.push_back(static_cast<uint8_t>(luma - 4 + static_cast<int>(random_() % 9)));
    frames.push_back(measure(pixels, 0));
    std::sort(pixels.begin(), pixels.end());
    frames.back().p1 = pixels[pixels.size() / 100];
    frames.back().p99 = pixels[pixels.size() * 99 / 100];
    frames.back().p5 = pixels[pixels.size() * 5 / 100];
    frames.back().p95 = pixels[pixels.size() * 95 / 100];
    return frames.back();
  }

  Measurement frame(Time now, std::optional<Verdict> fault) {
    Measurement made = at(now, measured(levels_of(fault)));
    auto blocks = std::make_shared<Blocks>();
    for (uint16_t &mean : blocks->means)
      mean = static_cast<uint16_t>(made.mean * Blocks::kLuma + random_() % Blocks::kLuma);
    made.blocks = blocks;
    // With a thumbnail that shows the scene in place, a sudden change would end soon.
    if (now - thumbnail_ < kThumbnailEvery || fault == Verdict::kSuddenChange) return made;
    thumbnail_ = now;
    made.thumbnail = thumbnails_[fault == Verdict::kMoved     ? 1
                                 : fault == Verdict::kCovered ? 2
                                 : fault == Verdict::kBlurred ? 3
                                                              : 0];
    return made;
  }

  std::mt19937 random_;
  const Picture scene_;
  std::vector<Thumb> thumbnails_;
  std::map<const Levels *, std::vector<Measurement>> measured_;
  std::vector<Fault> faults_;
  size_t next_ = 0;  // index of the current or next fault
  Measurement frozen_;
  Time thumbnail_ = 0;
};

/// Resources that must not grow.
struct Usage {
  size_t descriptors = 0, threads = 0;
  double memory = 0, database = 0, log = 0;  // bytes
};

size_t entries(const char *folder) {
  using Entries = std::filesystem::directory_iterator;
  return static_cast<size_t>(std::distance(Entries(folder), Entries()));
}

Usage usage(Database &reader, const std::string &database) {
  Usage now;
  std::ifstream("/proc/self/statm") >> now.memory >> now.memory;
  now.memory *= 4096;
  // The size of the database, whatever part of it is still in the log.
  now.database =
      static_cast<double>(reader.number("PRAGMA page_count") * reader.number("PRAGMA page_size"));
  now.log = static_cast<double>(std::filesystem::file_size(database + "-wal"));
  // The descriptors are counted after the first read, which opens the log.
  now.descriptors = entries("/proc/self/fd");
  now.threads = entries("/proc/self/task");
  return now;
}

class LongNight : public testing::Test {
 protected:
  LongNight() { clocks = kBegin; }

  Settings settings() const {
    Settings settings = settings_of(file(), kCameras);
    for (CameraSettings &camera : settings.cameras) camera.rules = default_rules();
    settings.history = {true, file(), 60, 0.1};
    return settings;
  }
  std::string file() const { return folder_.file("history.db"); }

  void play(Rig &rig, FaultWatch &watch, Time end) {
    for (; rig.clock.now() < end; advance(kStep)) {
      for (size_t i = 0; i < kCameras; ++i)
        cameras_[i].send(rig.clock.now(),
                         [&](const Measurement &frame) { rig.monitor.take(i, frame); });
      rig.tick();
      for (const Alert &alert : watch.tick()) alerts_.push_back(alert);
    }
  }

  /// Takes the alerts of this camera and verdict that begin while the fault lasts.
  std::vector<Alert> take(const Camera &camera, Verdict verdict, int64_t begin, int64_t end) {
    std::vector<Alert> found;
    const auto is_wanted = [&](const Alert &alert) {
      return alert.camera == camera.id() && alert.verdict == verdict && alert.since >= begin &&
             alert.since <= end;
    };
    std::copy_if(alerts_.begin(), alerts_.end(), std::back_inserter(found), is_wanted);
    alerts_.erase(std::remove_if(alerts_.begin(), alerts_.end(), is_wanted), alerts_.end());
    return found;
  }

  void expect_told(const Rig &rig, const Camera &camera, const Fault &fault) {
    const int64_t begin = rig.clock.wall(fault.begin), end = rig.clock.wall(fault.end);
    const int64_t seen = kSeen / 1000, told = kSettle / 1000;
    const std::string what =
        camera.id() + " " + std::string(name_of(fault.verdict)) + " " + std::to_string(begin);
    const std::vector<Alert> alerts = take(camera, fault.verdict, begin - told, begin + seen);
    ASSERT_EQ(alerts.size(), 2u) << what;
    EXPECT_EQ(alerts[0].event, Alert::Event::kRaised) << what;
    ASSERT_EQ(alerts[1].event, Alert::Event::kCleared) << what;
    EXPECT_NEAR(static_cast<double>(*alerts[1].cleared), static_cast<double>(end),
                static_cast<double>(seen))
        << what;
  }

  const Folder folder_;
  std::vector<MadeUpCamera> cameras_;
  std::vector<Alert> alerts_;
};

TEST_F(LongNight, EachFaultIsReportedOnce) {
  const unsigned begin_of_seeds = seed();
  for (size_t i = 0; i < kCameras; ++i)
    cameras_.emplace_back(begin_of_seeds + static_cast<unsigned>(i));
  Rig rig(settings());
  FaultWatch watch({kAfter, kSettle, 0}, rig.monitor);
  rig.monitor.add(watch);
  const Time begin = rig.clock.now();
  // The descriptors of the reader stay as long as the history has the file open.
  Database reader(file(), Database::Access::kRead);
  for (MadeUpCamera &camera : cameras_) camera.plan(begin + kLearning, begin + kHours * kHour);

  play(rig, watch, begin + kHours / 2 * kHour);
  const Usage early = usage(reader, file());
  play(rig, watch, begin + kHours * kHour);
  const Usage late = usage(reader, file());
  EXPECT_EQ(late.descriptors, early.descriptors);
  EXPECT_EQ(late.threads, early.threads);
  EXPECT_LT(late.memory, early.memory + 8e6);
  EXPECT_LT(late.database, 1.2 * early.database);
  EXPECT_LT(late.log, kMaxLog);
  EXPECT_EQ(rig.history.error(), "");
  EXPECT_EQ(rig.history.stats().dropped, 0u);

  size_t count = 0;
  std::array<size_t, kVerdicts> kinds = {};
  for (size_t i = 0; i < kCameras; ++i)
    for (const Fault &fault : cameras_[i].faults()) {
      expect_told(rig, rig.camera(i), fault);
      ++count, ++kinds[static_cast<size_t>(fault.verdict)];
    }
  for (const size_t kind : kinds) EXPECT_GT(kind, 50u);
  std::printf("%zu faults, %.0f MB of memory, %.1f MB of database\n", count, late.memory / 1e6,
              late.database / 1e6);
  for (const Alert &alert : alerts_)
    ADD_FAILURE() << alert.camera << " " << name_of(alert.verdict) << " " << alert.since
                  << ", of no fault";
}

}  // namespace
}  // namespace luminance::test

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
