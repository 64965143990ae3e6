// SPDX-License-Identifier: LGPL-2.1-or-later
// The kinds of verdicts, and the rules by which they are raised: those of rules.json.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace luminance {

/// In order of severity, the most severe first, as in rules.json.
enum class Verdict {
  kNoFrames,
  kFrozen,
  kMoved,
  kCovered,
  kBlurred,
  kTooDark,
  kTooBright,
  kLowContrast,
  kFlicker,
  kClippedLow,
  kClippedHigh,
  kSuddenChange,
};
constexpr size_t kVerdicts = 12;

/// Returns a choice of all verdicts.
constexpr std::array<bool, kVerdicts> all_verdicts() {
  std::array<bool, kVerdicts> all = {};
  for (size_t i = 0; i < kVerdicts; ++i) all[i] = true;
  return all;
}

/// The name in settings, the API and metrics: "no-frames", "too-dark".
std::string_view name_of(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);
/// The name for people: "Too dark".
std::string_view title_of(Verdict verdict);
/// The meaning of the verdict's value: "mean luma", "share of black pixels".
std::string_view quantity_of(Verdict verdict);

/// When a verdict is raised and cleared. `clear` lies on the good side of `raise`, so that a value
/// that fluctuates around one of them changes nothing.
struct Rule {
  bool enabled = true;
  double raise = 0, clear = 0;
  double hold = 0;  // seconds for which the value must be beyond the threshold
};
bool operator==(const Rule &a, const Rule &b);

using Rules = std::array<Rule, kVerdicts>;

/// The defaults; docs/verdicts.md gives the reasons.
const Rules &default_rules();
/// Whether values above `raise` are bad, rather than those below.
bool is_bad_above(Verdict verdict);
/// The side of `raise` where values are bad: "above" or "below".
std::string_view side_of(Verdict verdict);
/// Whether the verdict's value is a duration in seconds, which began before it was raised.
bool is_duration(Verdict verdict);
/// Whether a picture with `verdict` also has `other` for the same reason: a black picture also
/// lacks contrast. While `verdict` is active, `other` is not a separate fault.
bool explains(Verdict verdict, Verdict other);
/// The largest value that the verdict can have; the smallest is 0.
double max_value_of(Verdict verdict);

/// Times for sudden changes, in seconds.
struct ChangeTimes {
  double adaptation;  // in which the comparison picture follows the frames
  double accepted;    // after which a lasting change is accepted as normal
};
const ChangeTimes &change_times();

/// Returns the `clear` for another `raise`: as far from it as in `rule`; if no value would then
/// clear the verdict, halfway to the best value.
double clear_for(Verdict verdict, double raise, const Rule &rule);
/// What is wrong with `clear`; empty if nothing is.
std::string_view clear_error(Verdict verdict, const Rule &rule);

}  // namespace luminance
