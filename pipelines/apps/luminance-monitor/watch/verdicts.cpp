// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verdicts.h"

#include <algorithm>
#include <cmath>

namespace luminance {
namespace {

struct Kind {
  std::string_view name, title, value;
  bool bad_above;
  bool is_duration;  // seconds that it has been so already
  Rule rule;         // enabled, raise, clear, hold
};

constexpr Kind kKinds[kVerdicts] = {
    {"no-frames", "No frames", "seconds without a frame", true, true, {true, 5, 5, 0}},
    {"frozen", "Frozen", "seconds of one histogram", true, true, {true, 20, 1, 0}},
    {"too-dark", "Too dark", "mean luma", false, false, {true, 40, 45, 5}},
    {"too-bright", "Too bright", "mean luma", true, false, {true, 210, 200, 5}},
    {"low-contrast", "Low contrast", "luma from p1 to p99", false, false, {true, 40, 50, 5}},
    {"flicker", "Flicker", "percent of the mean", true, false, {true, 1, 0.5, 3}},
    {"clipped-low", "Clipped to black", "share of pixels", true, false, {true, 0.4, 0.35, 5}},
    {"clipped-high", "Clipped to white", "share of pixels", true, false, {true, 0.15, 0.1, 5}},
    {"sudden-change", "Sudden change", "luma moved", true, false, {true, 20, 10, 0.5}},
};

// How long a change stays one: the picture that frames are compared with follows them this slowly.
constexpr double kFollow = 5;  // seconds
constexpr Time kFlickerEvery = kSecond;

const Kind &kind_of(Verdict verdict) { return kKinds[static_cast<size_t>(verdict)]; }

double seconds_of(Time time) { return static_cast<double>(time) / kSecond; }

using Shares = std::array<double, 256>;

Shares shares_of(const Measurement &frame) {
  Shares shares = {};
  for (size_t i = 0; i < shares.size(); ++i)
    shares[i] = static_cast<double>(frame.histogram[i]) / static_cast<double>(frame.pixels);
  return shares;
}

/// The least luma that pixels have to change by, on average, to make `b` of `a`.
double distance(const Shares &a, const Shares &b) {
  double sum = 0, carried = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    carried += a[i] - b[i];
    sum += std::abs(carried);
  }
  return sum;
}

}  // namespace

std::string_view name_of(Verdict verdict) { return kind_of(verdict).name; }
std::string_view title_of(Verdict verdict) { return kind_of(verdict).title; }
std::string_view value_of(Verdict verdict) { return kind_of(verdict).value; }
bool is_bad_above(Verdict verdict) { return kind_of(verdict).bad_above; }

std::optional<Verdict> verdict_named(std::string_view name) {
  for (size_t i = 0; i < kVerdicts; ++i)
    if (kKinds[i].name == name) return static_cast<Verdict>(i);
  return {};
}

const Rules &default_rules() {
  static const Rules rules = [] {
    Rules made;
    for (size_t i = 0; i < kVerdicts; ++i) made[i] = kKinds[i].rule;
    return made;
  }();
  return rules;
}

Judge::Judge(const Rules &rules, Time now) : rules_(rules), heard_(now) {}

std::vector<Change> Judge::judge(const Measurement &frame, Time listened) {
  std::vector<Change> changes = tick(frame.time, listened);  // a gap before it
  heard_ = listened;
  update(Verdict::kNoFrames, 0, frame.time, changes);
  if (frame.pixels == 0) return changes;
  judge_levels(frame, changes);
  judge_flow(frame, changes);
  return changes;
}

std::vector<Change> Judge::tick(Time now, Time listened) {
  std::vector<Change> changes;
  update(Verdict::kNoFrames, seconds_of(listened - heard_), now, changes);
  if (changes.empty()) return changes;
  restart();
  for (size_t i = 1; i < kVerdicts; ++i) {
    Condition &condition = conditions_[i];
    if (condition.raised) changes.push_back({static_cast<Verdict>(i), false, now, condition.value});
    condition = {};
  }
  return changes;
}

void Judge::wait_anew(Time listened) {
  if (!conditions_[static_cast<size_t>(Verdict::kNoFrames)].raised) heard_ = listened;
}

void Judge::restart() {
  same_since_.reset();
  usual_.reset();
  flicker_.clear();
}

std::vector<Standing> Judge::standing() const {
  std::vector<Standing> standing;
  for (size_t i = 0; i < kVerdicts; ++i)
    if (conditions_[i].raised)
      standing.push_back({static_cast<Verdict>(i), conditions_[i].since, conditions_[i].value});
  return standing;
}

void Judge::judge_levels(const Measurement &frame, std::vector<Change> &changes) {
  update(Verdict::kTooDark, frame.mean, frame.time, changes);
  update(Verdict::kTooBright, frame.mean, frame.time, changes);
  update(Verdict::kLowContrast, frame.p99 - frame.p1, frame.time, changes);
  update(Verdict::kClippedLow, frame.clipped_low, frame.time, changes);
  update(Verdict::kClippedHigh, frame.clipped_high, frame.time, changes);
}

void Judge::judge_flow(const Measurement &frame, std::vector<Change> &changes) {
  if (!same_since_ || frame.histogram != same_) {
    same_ = frame.histogram;
    same_since_ = frame.time;
  }
  update(Verdict::kFrozen, seconds_of(frame.time - *same_since_), frame.time, changes);

  const Shares shares = shares_of(frame);
  if (!usual_) usual_ = Usual{shares, frame.time};
  update(Verdict::kSuddenChange, distance(shares, usual_->shares), frame.time, changes);
  const double step = 1 - std::exp(-seconds_of(frame.time - usual_->time) / kFollow);
  for (size_t i = 0; i < shares.size(); ++i)
    usual_->shares[i] += step * (shares[i] - usual_->shares[i]);
  usual_->time = frame.time;

  flicker_.add(frame.time, frame.mean);
  if (frame.time - flicker_judged_ < kFlickerEvery) return;
  flicker_judged_ = frame.time;
  update(Verdict::kFlicker, flicker_.percent(), frame.time, changes);
}

void Judge::update(Verdict verdict, double value, Time now, std::vector<Change> &changes) {
  const Rule &rule = rules_[static_cast<size_t>(verdict)];
  Condition &condition = conditions_[static_cast<size_t>(verdict)];
  if (!rule.enabled) return;
  condition.value = value;
  const double threshold = condition.raised ? rule.clear : rule.raise;
  const bool above = is_bad_above(verdict) != condition.raised;  // is what would change it
  if (above ? value <= threshold : value >= threshold) {
    condition.crossing.reset();
    return;
  }
  if (!condition.crossing) condition.crossing = now;
  if (now - *condition.crossing < seconds(rule.hold)) return;
  condition.raised = !condition.raised;
  const bool has_lasted = condition.raised && kind_of(verdict).is_duration;
  condition.since = has_lasted ? now - seconds(value) : *condition.crossing;
  condition.crossing.reset();
  changes.push_back({verdict, condition.raised, condition.since, value});
}

}  // namespace luminance
