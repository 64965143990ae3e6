// SPDX-License-Identifier: LGPL-2.1-or-later
// The verdicts that there are, and the rules by which they are raised.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace luminance {

/// By severity, the worst first.
enum class Verdict {
  kNoFrames,
  kFrozen,
  kTooDark,
  kTooBright,
  kLowContrast,
  kFlicker,
  kClippedLow,
  kClippedHigh,
  kSuddenChange,
};
constexpr size_t kVerdicts = 9;

/// As in settings, the API and metrics: "no-frames", "too-dark".
std::string_view name_of(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);
/// For people: "Too dark".
std::string_view title_of(Verdict verdict);
/// What its value is: "mean luma", "share of pixels at black".
std::string_view value_of(Verdict verdict);

/// When a verdict is raised and cleared again. `clear` lies on the good side of `raise`, so that a
/// value that trembles around one of them changes nothing.
struct Rule {
  bool enabled = true;
  double raise = 0, clear = 0;
  double hold = 0;  // seconds that a value lies beyond one of them before it counts
};

using Rules = std::array<Rule, kVerdicts>;

/// The defaults, argued for in README.md.
const Rules &default_rules();
/// Whether values above `raise` are bad, not those below.
bool is_bad_above(Verdict verdict);
/// Whether its value is how long it has been so already, in seconds.
bool is_duration(Verdict verdict);

}  // namespace luminance
