// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/rules.h"

#include <tuple>

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
    {"frozen", "Frozen", "seconds without change", true, true, {true, 20, 1, 0}},
    {"moved", "Moved", "share of edges out of place", true, false, {true, 0.3, 0.2, 30}},
    {"covered", "Partly covered", "share of edges hidden", true, false, {true, 0.2, 0.15, 30}},
    {"blurred", "Out of focus", "share of detail missing", true, false, {true, 0.5, 0.4, 30}},
    {"too-dark", "Too dark", "mean luma", false, false, {true, 40, 45, 5}},
    {"too-bright", "Too bright", "mean luma", true, false, {true, 210, 200, 5}},
    {"low-contrast", "Low contrast", "luma from p5 to p95", false, false, {true, 25, 32, 5}},
    {"flicker", "Flicker", "swing in percent of the mean", true, false, {true, 1, 0.5, 3}},
    {"clipped-low", "Clipped to black", "share of black pixels", true, false, {true, .4, .35, 5}},
    {"clipped-high", "Clipped to white", "share of white pixels", true, false, {true, .15, .1, 5}},
    {"sudden-change", "Sudden change", "change in luma", true, false, {true, 15, 8, 10}},
};

const Kind &kind_of(Verdict verdict) { return kKinds[static_cast<size_t>(verdict)]; }

/// The value that is least like it.
double best_of(Verdict verdict) { return is_bad_above(verdict) ? 0 : max_value_of(verdict); }

}  // namespace

bool operator==(const Rule &a, const Rule &b) {
  // These name every member, so that none that is added later is forgotten here.
  const auto &[enabled, raise, clear, hold] = a;
  const auto &[enabled_b, raise_b, clear_b, hold_b] = b;
  return std::tie(enabled, raise, clear, hold) == std::tie(enabled_b, raise_b, clear_b, hold_b);
}

std::string_view name_of(Verdict verdict) { return kind_of(verdict).name; }
std::string_view title_of(Verdict verdict) { return kind_of(verdict).title; }
std::string_view quantity_of(Verdict verdict) { return kind_of(verdict).value; }
bool is_bad_above(Verdict verdict) { return kind_of(verdict).bad_above; }

std::string_view side_of(Verdict verdict) { return is_bad_above(verdict) ? "above" : "below"; }

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

bool is_duration(Verdict verdict) { return kind_of(verdict).is_duration; }

bool explains(Verdict verdict, Verdict other) {
  switch (verdict) {
    case Verdict::kMoved:
    case Verdict::kBlurred:
    case Verdict::kLowContrast:
    case Verdict::kClippedLow:
    case Verdict::kClippedHigh: return other == Verdict::kSuddenChange;
    case Verdict::kCovered:
      return other == Verdict::kSuddenChange || other == Verdict::kLowContrast;
    case Verdict::kTooDark:
      return other == Verdict::kSuddenChange || other == Verdict::kLowContrast ||
             other == Verdict::kClippedLow;
    case Verdict::kTooBright:
      return other == Verdict::kSuddenChange || other == Verdict::kLowContrast ||
             other == Verdict::kClippedHigh;
    default: return false;
  }
}

double max_value_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoFrames:
    case Verdict::kFrozen: return 86400;
    case Verdict::kFlicker: return 100;
    case Verdict::kMoved:
    case Verdict::kCovered:
    case Verdict::kBlurred:
    case Verdict::kClippedLow:
    case Verdict::kClippedHigh: return 1;
    default: return 255;
  }
}

double clear_for(Verdict verdict, double raise, const Rule &rule) {
  const double clear = raise + rule.clear - rule.raise, best = best_of(verdict);
  return (is_bad_above(verdict) ? clear > best : clear < best) ? clear : (raise + best) / 2;
}

std::string_view clear_error(Verdict verdict, const Rule &rule) {
  if (is_bad_above(verdict) && rule.clear > rule.raise) return "is above raise";
  if (!is_bad_above(verdict) && rule.clear < rule.raise) return "is below raise";
  if (rule.clear == best_of(verdict)) return "leaves no value that would clear the verdict";
  return "";
}

}  // namespace luminance
