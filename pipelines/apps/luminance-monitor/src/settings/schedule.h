// SPDX-License-Identifier: LGPL-2.1-or-later
// Rules that differ by the time of day.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "settings/rules.h"

namespace luminance {

/// A part of every day, which may cross midnight, and the settings that differ in it.
struct Period {
  unsigned from = 0, to = 0;  // minutes since midnight; never the same
  std::optional<bool> enabled;
  std::optional<double> raise, clear, hold;
};
bool operator==(const Period &a, const Period &b);

/// Whether the period contains the minute, counted from midnight.
bool contains(const Period &period, unsigned minute);

/// No two periods overlap.
using Schedule = std::vector<Period>;
using Schedules = std::array<Schedule, kVerdicts>;

/// Returns the minutes since midnight in the time zone of the process. `time` is in milliseconds
/// since 1970 (UTC).
unsigned minute_of_day(int64_t time);
/// Returns a text such as "06:30".
std::string time_of_day(unsigned minute);

/// `rule` with the changes of a period.
Rule rule_in(const Period &period, Verdict verdict, Rule rule);
/// The rules in force at a minute of the day.
Rules rules_at(unsigned minute, const Rules &rules, const Schedules &schedules);
/// Increases `raise` to `least` if it is lower, also in the periods.
void lift(Verdict verdict, double least, Rules &rules, Schedules &schedules);
/// Returns the rule of the verdict outside the periods, and its rule in each period.
std::vector<Rule> all_rules(Verdict verdict, const Rules &rules, const Schedules &schedules);

}  // namespace luminance
