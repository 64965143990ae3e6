// SPDX-License-Identifier: LGPL-2.1-or-later
// The output of Metrics, read by an independent parser and compared with the frames of the monitor.
#include "metrics/metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "exposition.h"
#include "metrics/textformat.h"
#include "seed.h"

namespace luminance {
namespace {

/// Number of pixels of each luma.
using Histogram = std::array<uint64_t, 256>;

CameraSettings camera_settings(const std::string &id, const std::string &name = "Entrance") {
  CameraSettings camera;
  camera.id = id;
  camera.name = name;
  camera.location = "rtsp://10.0.0.5/stream";
  camera.rules = default_rules();
  return camera;
}

Settings settings_of(size_t cameras) {
  Settings settings;
  for (size_t i = 0; i < cameras; ++i)
    settings.cameras.push_back(camera_settings("camera-" + std::to_string(i)));
  return settings;
}

/// A monitor whose time is that of its frames.
class World {
 public:
  explicit World(const Settings &settings)
      : clock_(true), monitor_(settings, clock_), metrics_(monitor_), begin_(clock_.now()) {
    monitor_.add(metrics_);
  }

  const Clock &clock() const { return clock_; }
  Monitor &monitor() { return monitor_; }
  Metrics &metrics() { return metrics_; }
  const Camera &camera(size_t index = 0) const { return *monitor_.cameras()[index]; }

  /// Feeds a frame; `time` is in seconds since the constructor.
  void feed(double time, const Histogram &histogram, size_t camera = 0) {
    Measurement frame;
    frame.time = begin_ + seconds(time);
    frame.frames = 1;
    std::copy(histogram.begin(), histogram.end(), frame.bins);
    double sum = 0;
    for (size_t luma = 0; luma < histogram.size(); ++luma) {
      frame.pixels += histogram[luma];
      sum += static_cast<double>(histogram[luma] * luma);
    }
    frame.mean = sum / static_cast<double>(frame.pixels);
    frame.clipped_low = static_cast<double>(histogram[0]) / static_cast<double>(frame.pixels);
    monitor_.take(camera, frame);
  }
  Exposition read() const { return Exposition(metrics_.text()); }

 private:
  Clock clock_;
  Monitor monitor_;
  Metrics metrics_;
  Time begin_;
};

Histogram one_luma(size_t luma, uint64_t pixels = 1000) {
  Histogram histogram = {};
  histogram[luma] = pixels;
  return histogram;
}

class Random {
 public:
  uint64_t bits() { return engine_(); }
  Histogram histogram() {
    Histogram histogram = {};
    for (uint64_t &count : histogram) count = engine_() % 100000;
    return histogram;
  }

 private:
  std::mt19937_64 engine_{seed()};
};

const LabelSet kCamera = {{"camera", "camera-0"}};

LabelSet with(const std::string &label, const std::string &value) {
  LabelSet labels = kCamera;
  labels[label] = value;
  return labels;
}

TEST(Metrics, ShowTheLatestInterval) {
  Random random;
  World world(settings_of(1));
  for (double time = 0; time < 3.1; time += 0.2) world.feed(time, random.histogram());

  const Interval &latest = world.camera().interval().value();
  const Exposition read = world.read();
  EXPECT_EQ(read.value("luminance_mean_luma", kCamera), latest.mean);
  EXPECT_EQ(read.value("luminance_stddev_luma", kCamera), latest.stddev);
  EXPECT_EQ(read.value("luminance_min_luma", kCamera), latest.min);
  EXPECT_EQ(read.value("luminance_max_luma", kCamera), latest.max);
  EXPECT_EQ(read.value("luminance_percentile_luma", with("percentile", "1")), latest.p1);
  EXPECT_EQ(read.value("luminance_percentile_luma", with("percentile", "5")), latest.p5);
  EXPECT_EQ(read.value("luminance_percentile_luma", with("percentile", "50")), latest.median);
  EXPECT_EQ(read.value("luminance_percentile_luma", with("percentile", "95")), latest.p95);
  EXPECT_EQ(read.value("luminance_percentile_luma", with("percentile", "99")), latest.p99);
  EXPECT_EQ(read.value("luminance_clipped_ratio", with("bound", "low")), latest.clipped_low);
  EXPECT_EQ(read.value("luminance_clipped_ratio", with("bound", "high")), latest.clipped_high);
  EXPECT_GT(latest.mean, 0);
  EXPECT_GT(latest.clipped_low, 0);
  EXPECT_EQ(read.value("luminance_frames_total", kCamera), 16);
  EXPECT_EQ(read.value("luminance_frames_per_second", kCamera), world.camera().frame_rate());
  EXPECT_NEAR(read.value("luminance_frames_per_second", kCamera), 5, 0.001);
  EXPECT_NEAR(read.value("luminance_last_frame_timestamp_seconds", kCamera),
              static_cast<double>(world.clock().wall(*world.camera().last_frame())) / 1000, 0.0005);
}

TEST(Metrics, SumPixelsByLuma) {
  Random random;
  World world(settings_of(2));
  Histogram sum = {};
  const int frames = 40;
  for (int i = 0; i < frames; ++i) {
    const Histogram histogram = random.histogram();
    world.feed(0.5 * i, histogram);
    world.feed(0.5 * i, one_luma(255), 1);
    if (i >= frames - 2) continue;  // in the interval that has not ended
    for (size_t luma = 0; luma < 256; ++luma) sum[luma] += histogram[luma];
  }

  const Exposition read = world.read();
  double below = 0, total = 0;
  for (size_t luma = 0; luma < 256; ++luma) {
    below += static_cast<double>(sum[luma]);
    total += static_cast<double>(sum[luma] * luma);
    if (luma % 16 != 15) continue;
    EXPECT_EQ(read.sample("luminance_pixel_luma", "luminance_pixel_luma_bucket",
                          with("le", std::to_string(luma))),
              below)
        << luma;
  }
  EXPECT_EQ(read.sample("luminance_pixel_luma", "luminance_pixel_luma_bucket", with("le", "+Inf")),
            below);
  EXPECT_EQ(read.sample("luminance_pixel_luma", "luminance_pixel_luma_count", kCamera), below);
  EXPECT_EQ(read.sample("luminance_pixel_luma", "luminance_pixel_luma_sum", kCamera), total);
  EXPECT_EQ(
      read.families().at("luminance_pixel_luma").series.at("luminance_pixel_luma_bucket").size(),
      2 * 17);
  const LabelSet other = {{"camera", "camera-1"}};
  EXPECT_EQ(read.sample("luminance_pixel_luma", "luminance_pixel_luma_sum", other),
            255.0 * 1000 * (frames - 2));
}

TEST(Metrics, ForgetThePictureOfALostCamera) {
  World world(settings_of(2));
  for (double time = 0; time < 3; time += 0.5) {
    world.feed(time, one_luma(100));
    world.feed(time, one_luma(110), 1);
  }
  EXPECT_EQ(world.read().value("luminance_camera_status", with("status", "playing")), 1);
  world.monitor().set_status(0, Status::kWaiting, "no route to host");
  Exposition read = world.read();
  for (const char *name : {"luminance_mean_luma", "luminance_stddev_luma", "luminance_min_luma",
                           "luminance_max_luma"}) {
    EXPECT_FALSE(read.has(name, kCamera)) << name;
    EXPECT_TRUE(read.has(name, {{"camera", "camera-1"}})) << name;
  }
  EXPECT_EQ(read.count("luminance_percentile_luma"), 5u);
  EXPECT_EQ(read.count("luminance_clipped_ratio"), 2u);
  EXPECT_EQ(read.value("luminance_frames_per_second", kCamera), 0);
  EXPECT_EQ(read.value("luminance_camera_status", with("status", "playing")), 0);
  EXPECT_EQ(read.value("luminance_camera_status", with("status", "waiting")), 1);
  EXPECT_EQ(read.value("luminance_frames_total", kCamera), 6);

  world.monitor().set_status(0, Status::kConnecting);
  for (double time = 4; time < 6; time += 0.5) world.feed(time, one_luma(120));
  read = world.read();
  EXPECT_EQ(read.value("luminance_mean_luma", kCamera), 120);
  EXPECT_EQ(read.value("luminance_reconnects_total", kCamera), 1);
}

TEST(Metrics, HavePictureValuesOnlyAfterTheFirstPicture) {
  const World world(settings_of(1));
  const Exposition read = world.read();
  EXPECT_EQ(read.count("luminance_mean_luma"), 0u);
  EXPECT_EQ(read.count("luminance_last_frame_timestamp_seconds"), 0u);
  EXPECT_EQ(read.value("luminance_camera_status", with("status", "connecting")), 1);
  EXPECT_EQ(read.value("luminance_frames_total", kCamera), 0);
  EXPECT_EQ(read.value("luminance_cameras"), 1);
  EXPECT_EQ(read.sample("luminance_pixel_luma", "luminance_pixel_luma_count", kCamera), 0);
}

TEST(Metrics, ShowVerdicts) {
  Settings settings = settings_of(1);
  settings.cameras[0].rules[static_cast<size_t>(Verdict::kFrozen)].enabled = false;
  World world(settings);
  const LabelSet dark = with("verdict", "too-dark");
  world.feed(0, one_luma(120));
  EXPECT_EQ(world.read().value("luminance_verdict", dark), 0);
  EXPECT_FALSE(world.read().has("luminance_verdict_start_timestamp_seconds", dark));

  for (double time = 1; time < 121; time += 1) world.feed(time, one_luma(3));
  Exposition read = world.read();
  EXPECT_EQ(read.value("luminance_verdict", dark), 1);
  EXPECT_EQ(read.value("luminance_verdicts_raised_total", dark), 1);
  EXPECT_NEAR(read.value("luminance_verdict_start_timestamp_seconds", dark),
              static_cast<double>(world.clock().wall(*world.camera().last_frame())) / 1000 - 119,
              0.002);
  size_t standing = 0;
  for (const auto &series : read.families().at("luminance_verdict").series.at("luminance_verdict"))
    standing += series.second == 1;
  EXPECT_EQ(standing, world.camera().standing().size());
  EXPECT_EQ(read.count("luminance_verdict"), kVerdicts - 1);
  EXPECT_FALSE(read.has("luminance_verdict", with("verdict", "frozen")));

  for (double time = 121; time < 241; time += 1) world.feed(time, one_luma(120));
  read = world.read();
  EXPECT_EQ(read.value("luminance_verdict", dark), 0);
  EXPECT_FALSE(read.has("luminance_verdict_start_timestamp_seconds", dark));
  EXPECT_EQ(read.value("luminance_verdicts_raised_total", dark), 1);
}

TEST(Metrics, NameTheSameFamiliesWithAndWithoutValues) {
  const auto names_of = [](const Exposition &read) {
    std::vector<std::string> names;
    for (const auto &[name, family] : read.families()) {
      EXPECT_FALSE(family.type.empty()) << name;
      names.push_back(name);
    }
    return names;
  };
  World world(settings_of(1));
  const std::vector<std::string> first = names_of(world.read());
  EXPECT_EQ(world.read().count("luminance_verdict_start_timestamp_seconds"), 0u);
  for (double time = 0; time < 60; time += 1) world.feed(time, one_luma(3));
  EXPECT_GT(world.read().count("luminance_verdict_start_timestamp_seconds"), 0u);
  EXPECT_EQ(names_of(world.read()), first);
}

TEST(Metrics, EscapeNamesFromOutside) {
  Settings settings;
  const std::string plain = "a \"quoted\"\nline \\n, {camera=\"x\"} 1 \xc3\xa9";
  const std::string broken = std::string("\xff lone, \xc3( and a ") + '\0' + " zero";
  settings.cameras = {camera_settings("plain", plain), camera_settings("broken", broken)};
  settings.cameras[1].location = "file:///tmp/\x80.webm";
  const World world(settings);
  const Exposition read = world.read();
  const auto &series =
      read.families().at("luminance_camera_info").series.at("luminance_camera_info");
  EXPECT_TRUE(
      series.count({{"camera", "plain"}, {"name", plain}, {"location", "rtsp://10.0.0.5/stream"}}));
  EXPECT_TRUE(series.count({{"camera", "broken"},
                            {"name", "\xef\xbf\xbd lone, \xef\xbf\xbd( and a \xef\xbf\xbd zero"},
                            {"location", "file:///tmp/\xef\xbf\xbd.webm"}}));
  EXPECT_EQ(series.size(), 2u);
}

TEST(Metrics, DescribeTheProcess) {
  const World world(settings_of(1));
  const Exposition before = world.read();
  const int file = dup(0);
  volatile uint64_t work = 0;
  const auto cpu = [&] { return world.read().value("process_cpu_seconds_total"); };
  while (cpu() < before.value("process_cpu_seconds_total") + 0.05) work = work + 1;
  EXPECT_EQ(world.read().value("process_open_fds"), before.value("process_open_fds") + 1);
  close(file);
  EXPECT_EQ(world.read().value("process_open_fds"), before.value("process_open_fds"));
  EXPECT_GT(before.value("process_max_fds"), before.value("process_open_fds"));
  EXPECT_GT(before.value("process_resident_memory_bytes"), 1e6);
  EXPECT_LT(before.value("process_resident_memory_bytes"),
            before.value("process_virtual_memory_bytes"));
  // The kernel gives the boot time in whole seconds.
  EXPECT_NEAR(before.value("process_start_time_seconds"), static_cast<double>(time(nullptr)), 300);
}

TEST(Metrics, DescribeTheHistory) {
  World world(settings_of(1));
  EXPECT_FALSE(world.read().has("luminance_history_failing", {})) << "none is kept";
  HistorySettings settings;
  settings.file = "/proc/nowhere/history.db";
  History history(settings, world.monitor(), History::OpenMode::kDeferred);
  world.metrics().show(history);
  for (int i = 0; i < 3; ++i)
    history.on_change(world.camera(), {Verdict::kFlicker, true, world.clock().now(), 1});
  EXPECT_EQ(world.read().value("luminance_history_failing", {}), 1);
  EXPECT_EQ(world.read().value("luminance_history_write_failures_total", {}), 1);
  EXPECT_EQ(world.read().value("luminance_history_pending_records", {}), 4)
      << "three changes, and the incident that they are";
  EXPECT_EQ(world.read().value("luminance_history_dropped_records_total", {}), 0);
  for (int i = 0; i < 10000; ++i)
    history.on_change(world.camera(), {Verdict::kFlicker, true, world.clock().now(), 1});
  history.flush();
  EXPECT_EQ(world.read().value("luminance_history_write_failures_total", {}), 2);
  EXPECT_EQ(world.read().value("luminance_history_dropped_records_total", {}), 3);
}

TEST(Metrics, HaveTypesHelpAndNamesByTheRules) {
  World world(settings_of(2));
  for (double time = 0; time < 60; time += 1) world.feed(time, one_luma(3));
  const Exposition read = world.read();
  for (const auto &[name, family] : read.families()) {
    EXPECT_GT(family.help.size(), 10u) << name;
    const bool total = name.size() > 6 && name.substr(name.size() - 6) == "_total";
    EXPECT_EQ(family.type == "counter", total) << name;
    EXPECT_TRUE(name.rfind("luminance_", 0) == 0 || name.rfind("process_", 0) == 0) << name;
    for (const auto &[sample, series] : family.series)
      for (const auto &[labels, value] : series)
        EXPECT_EQ(labels.count("camera") == 0, name == "luminance_build_info" ||
                                                   name == "luminance_cameras" ||
                                                   name.rfind("process_", 0) == 0)
            << sample << ' ' << value;
  }
}

TEST(TextFormat, ReadsEveryNumberBackExactly) {
  Random random;
  std::vector<double> values = {0.1 + 0.2,
                                1.0 / 3,
                                0,
                                -0.0,
                                5e-324,
                                std::numeric_limits<double>::max(),
                                std::numeric_limits<double>::infinity()};
  while (values.size() < 5000) {
    const uint64_t bits = random.bits();
    double value;
    memcpy(&value, &bits, sizeof value);
    values.push_back(std::isnan(value) ? 1 : value);
  }
  prometheus::MetricFamily family{"a", "Numbers.", prometheus::MetricType::Gauge, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    prometheus::ClientMetric metric;
    metric.label = {{"i", std::to_string(i)}};
    metric.gauge.value = values[i];
    family.metric.push_back(metric);
  }
  const Exposition read(text_of({family}));
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(read.value("a", {{"i", std::to_string(i)}}), values[i]) << i;
}

TEST(Metrics, AreCheapWith32Cameras) {
  Random random;
  World world(settings_of(32));
  for (size_t camera = 0; camera < 32; ++camera)
    for (double time = 0; time < 3; time += 0.5) world.feed(time, random.histogram(), camera);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const int times = 50;
  size_t size = 0;
  for (int i = 0; i < times; ++i) size = world.metrics().text().size();
  const std::chrono::duration<double, std::milli> each = (Clock::now() - begin) / times;
  std::printf("%zu bytes in %.2f ms\n", size, each.count());
  EXPECT_LT(size, 400000u);
  EXPECT_LT(each.count(), 200);  // even with sanitizers on a busy machine
}

}  // namespace
}  // namespace luminance
