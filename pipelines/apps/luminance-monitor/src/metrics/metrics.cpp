// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/metrics.h"

#include <prometheus/histogram.h>

#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "metrics/process.h"
#include "metrics/textformat.h"

namespace luminance {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Label = ClientMetric::Label;

constexpr size_t kBuckets = 16;
constexpr size_t kLumas = std::extent_v<decltype(GstCudaTensorHistogram::bins)>;
constexpr size_t kBucketWidth = kLumas / kBuckets;

/// A camera's samples of one family.
class Samples {
 public:
  Samples(const Camera &camera, MetricFamily &family) : camera_(camera), family_(family) {}

  void add(double value, const std::vector<Label> &labels = {}) {
    ClientMetric metric;
    metric.gauge.value = metric.counter.value = value;
    add(std::move(metric), labels);
  }
  void add(ClientMetric metric, const std::vector<Label> &labels = {}) {
    metric.label = {{"camera", camera_.id()}};
    metric.label.insert(metric.label.end(), labels.begin(), labels.end());
    family_.metric.push_back(std::move(metric));
  }

 private:
  const Camera &camera_;
  MetricFamily &family_;
};

struct CameraFamily {
  const char *name, *help;
  MetricType type;
  void (*fill)(Samples &, const Camera &, const Clock &);
};

/// A family with values of a camera's latest interval; cameras without one have no sample.
struct PictureFamily {
  const char *name, *help;
  void (*fill)(Samples &, const Interval &);
};

double seconds_of(const Clock &clock, Time time) {
  return static_cast<double>(clock.wall(time)) / 1000;
}

void fill_info(Samples &samples, const Camera &camera, const Clock &) {
  samples.add(1, {{"name", camera.name()}, {"location", camera.settings().location}});
}

void fill_status(Samples &samples, const Camera &camera, const Clock &) {
  for (Status status : {Status::kConnecting, Status::kPlaying, Status::kWaiting, Status::kEnded})
    samples.add(camera.status() == status, {{"status", std::string(name_of(status))}});
}

void fill_frames(Samples &samples, const Camera &camera, const Clock &) {
  samples.add(static_cast<double>(camera.frames()));
}

void fill_frame_rate(Samples &samples, const Camera &camera, const Clock &) {
  samples.add(camera.frame_rate());
}

void fill_last_frame(Samples &samples, const Camera &camera, const Clock &clock) {
  if (camera.last_frame()) samples.add(seconds_of(clock, *camera.last_frame()));
}

void fill_reconnects(Samples &samples, const Camera &camera, const Clock &) {
  samples.add(static_cast<double>(camera.reconnects()));
}

/// Returns the verdicts that are enabled at any time of the day, so that series do not come and go.
std::vector<Verdict> judged(const Camera &camera) {
  const CameraSettings &settings = camera.settings();
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const std::vector<Rule> rules = all_rules(verdict, settings.rules, settings.schedules);
    if (std::any_of(rules.begin(), rules.end(), [](const Rule &rule) { return rule.enabled; }))
      verdicts.push_back(verdict);
  }
  return verdicts;
}

Label label_of(Verdict verdict) { return {"verdict", std::string(name_of(verdict))}; }

void fill_verdicts(Samples &samples, const Camera &camera, const Clock &) {
  const std::vector<Standing> standing = camera.standing();
  for (Verdict verdict : judged(camera)) {
    const bool stands = std::any_of(standing.begin(), standing.end(),
                                    [&](const Standing &s) { return s.verdict == verdict; });
    samples.add(stands, {label_of(verdict)});
  }
}

void fill_start(Samples &samples, const Camera &camera, const Clock &clock) {
  for (const Standing &standing : camera.standing())
    samples.add(seconds_of(clock, standing.since), {label_of(standing.verdict)});
}

void fill_raised(Samples &samples, const Camera &camera, const Clock &) {
  for (Verdict verdict : judged(camera))
    samples.add(static_cast<double>(camera.times_raised(verdict)), {label_of(verdict)});
}

void fill_maintenance(Samples &samples, const Camera &camera, const Clock &) {
  samples.add(camera.maintenance().has_value());
}

void fill_percentiles(Samples &samples, const Interval &picture) {
  samples.add(picture.p1, {{"percentile", "1"}});
  samples.add(picture.p5, {{"percentile", "5"}});
  samples.add(picture.median, {{"percentile", "50"}});
  samples.add(picture.p95, {{"percentile", "95"}});
  samples.add(picture.p99, {{"percentile", "99"}});
}

void fill_clipped(Samples &samples, const Interval &picture) {
  samples.add(picture.clipped_low, {{"bound", "low"}});
  samples.add(picture.clipped_high, {{"bound", "high"}});
}

const CameraFamily kCameraFamilies[] = {
    {"luminance_camera_info", "Always 1; the name of a camera and the location of its video.",
     MetricType::Gauge, fill_info},
    {"luminance_camera_status", "1 for the current status of a camera, 0 for the others.",
     MetricType::Gauge, fill_status},
    {"luminance_frames_total", "Frames measured since the monitor started.", MetricType::Counter,
     fill_frames},
    {"luminance_frames_per_second",
     "Frames per second in the latest interval, 0 if there are none.", MetricType::Gauge,
     fill_frame_rate},
    {"luminance_last_frame_timestamp_seconds", "Time of the latest frame, in seconds since 1970.",
     MetricType::Gauge, fill_last_frame},
    {"luminance_reconnects_total", "Number of reconnects to a lost camera.", MetricType::Counter,
     fill_reconnects},
    {"luminance_verdict", "1 if the verdict is active, otherwise 0.", MetricType::Gauge,
     fill_verdicts},
    {"luminance_verdict_start_timestamp_seconds",
     "Start time of an active verdict, in seconds since 1970.", MetricType::Gauge, fill_start},
    {"luminance_verdicts_raised_total", "Number of times that the verdict was raised.",
     MetricType::Counter, fill_raised},
    {"luminance_maintenance", "1 while a camera is in maintenance, otherwise 0.", MetricType::Gauge,
     fill_maintenance},
};

const PictureFamily kPictureFamilies[] = {
    {"luminance_mean_luma", "Mean luma of the latest interval, 0 to 255.",
     [](Samples &samples, const Interval &picture) { samples.add(picture.mean); }},
    {"luminance_stddev_luma", "Standard deviation of luma in the latest interval.",
     [](Samples &samples, const Interval &picture) { samples.add(picture.stddev); }},
    {"luminance_min_luma", "Minimum luma of the latest interval, 0 to 255.",
     [](Samples &samples, const Interval &picture) { samples.add(picture.min); }},
    {"luminance_max_luma", "Maximum luma of the latest interval, 0 to 255.",
     [](Samples &samples, const Interval &picture) { samples.add(picture.max); }},
    {"luminance_percentile_luma", "Percentiles of luma in the latest interval, 0 to 255.",
     fill_percentiles},
    {"luminance_clipped_ratio",
     "Share of the latest interval's pixels that are clipped to black and to white, 0 to 1.",
     fill_clipped},
};

MetricFamily single(const char *name, const char *help, double value,
                    const std::vector<Label> &labels = {}, MetricType type = MetricType::Gauge) {
  ClientMetric metric;
  metric.label = labels;
  metric.gauge.value = metric.counter.value = value;
  return {name, help, type, {metric}};
}

std::vector<MetricFamily> history_metrics(const History &history) {
  const HistoryStats stats = history.stats();
  const auto count = [](uint64_t number) { return static_cast<double>(number); };
  return {
      single("luminance_history_failing", "1 while the history cannot be written, 0 otherwise.",
             !history.error().empty()),
      single("luminance_history_write_failures_total",
             "Failed writes to the history since the monitor started.", count(stats.failures), {},
             MetricType::Counter),
      single("luminance_history_pending_records",
             "Records waiting to be written to the history: rows, verdicts and incidents.",
             count(stats.pending)),
      single("luminance_history_dropped_records_total",
             "Records discarded since the monitor started, because too many were waiting.",
             count(stats.dropped), {}, MetricType::Counter),
      single("luminance_history_set_aside_total",
             "Damaged files of the history that were set aside since the monitor started.",
             count(stats.set_aside), {}, MetricType::Counter),
  };
}

/// Counts messages by kind of channel, because two channels may have the same address.
std::vector<MetricFamily> notification_metrics(const Notifier &notifier) {
  MetricFamily sent{"luminance_notifications_sent_total",
                    "Messages sent since the monitor started, with tests.",
                    MetricType::Counter,
                    {}};
  MetricFamily failed{"luminance_notifications_failed_total",
                      "Failed attempts to send a message since the monitor started.",
                      MetricType::Counter,
                      {}};
  for (const auto &[kind, totals] : notifier.totals())
    for (auto &[family, count] :
         {std::pair<MetricFamily &, uint64_t>{sent, totals.sent}, {failed, totals.failed}}) {
      ClientMetric metric;
      metric.label = {{"channel", kind}};
      metric.counter.value = static_cast<double>(count);
      family.metric.push_back(metric);
    }
  return {sent, failed};
}

prometheus::Histogram::BucketBoundaries boundaries() {
  prometheus::Histogram::BucketBoundaries upper;
  for (size_t i = 1; i <= kBuckets; ++i) upper.push_back(static_cast<double>(i * kBucketWidth - 1));
  return upper;
}

}  // namespace

struct Metrics::Implementation {
  const Monitor &monitor;
  const History *history;                                         // or null
  const Notifier *notifier;                                       // or null
  std::unordered_map<std::string, prometheus::Histogram> pixels;  // by the camera's id

  template <class Fill>
  MetricFamily of_cameras(const char *name, const char *help, MetricType type, Fill fill) const {
    MetricFamily family{name, help, type, {}};
    for (const auto &camera : monitor.cameras()) {
      Samples samples(*camera, family);
      fill(samples, *camera);
    }
    return family;
  }
  std::vector<MetricFamily> collect() const;
};

std::vector<MetricFamily> Metrics::Implementation::collect() const {
  std::vector<MetricFamily> all;
  all.push_back(single("luminance_build_info", "Always 1; the version of the monitor.", 1,
                       {{"version", LUMINANCE_VERSION}}));
  all.push_back(single("luminance_cameras", "Number of configured cameras.",
                       static_cast<double>(monitor.cameras().size())));
  for (const CameraFamily &family : kCameraFamilies)
    all.push_back(of_cameras(family.name, family.help, family.type,
                             [&](Samples &samples, const Camera &camera) {
                               family.fill(samples, camera, monitor.clock());
                             }));
  for (const PictureFamily &family : kPictureFamilies)
    all.push_back(of_cameras(family.name, family.help, MetricType::Gauge,
                             [&](Samples &samples, const Camera &camera) {
                               if (camera.interval()) family.fill(samples, *camera.interval());
                             }));
  all.push_back(of_cameras("luminance_pixel_luma",
                           "Pixels by luma, 0 to 255, since the monitor started.",
                           MetricType::Histogram, [&](Samples &samples, const Camera &camera) {
                             samples.add(pixels.at(camera.id()).Collect());
                           }));
  if (history != nullptr)
    for (MetricFamily &family : history_metrics(*history)) all.push_back(std::move(family));
  if (notifier != nullptr)
    for (MetricFamily &family : notification_metrics(*notifier)) all.push_back(std::move(family));
  for (MetricFamily &family : process_metrics()) all.push_back(std::move(family));
  return all;
}

Metrics::Metrics(const Monitor &monitor)
    : implementation_(new Implementation{monitor, nullptr, nullptr, {}}) {
  for (const auto &camera : monitor.cameras())
    implementation_->pixels.try_emplace(camera->id(), boundaries());
}

Metrics::~Metrics() = default;

void Metrics::show(const History &history) { implementation_->history = &history; }
void Metrics::show(const Notifier &notifier) { implementation_->notifier = &notifier; }

void Metrics::on_interval(const Camera &camera, const Interval &interval) {
  std::vector<double> counts(kBuckets + 1);  // none lies above the last boundary
  double sum = 0;
  for (size_t luma = 0; luma < kLumas; ++luma) {
    const auto count = static_cast<double>(interval.bins[luma]);
    counts[luma / kBucketWidth] += count;
    sum += count * static_cast<double>(luma);
  }
  implementation_->pixels.at(camera.id()).ObserveMultiple(counts, sum);
}

void Metrics::on_added(const Camera &camera) {
  implementation_->pixels.try_emplace(camera.id(), boundaries());
}

void Metrics::on_removed(const Camera &camera) { implementation_->pixels.erase(camera.id()); }

std::string Metrics::text() const { return text_of(implementation_->collect()); }

}  // namespace luminance
