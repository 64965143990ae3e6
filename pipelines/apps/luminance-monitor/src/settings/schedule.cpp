// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/schedule.h"

#include <glib.h>

#include <algorithm>
#include <tuple>

namespace luminance {

constexpr unsigned kHour = 60;  // minutes

bool contains(const Period &period, unsigned minute) {
  const bool is_after = minute >= period.from, is_before = minute < period.to;
  return period.from < period.to ? is_after && is_before : is_after || is_before;
}

bool operator==(const Period &a, const Period &b) {
  const auto &[from, to, enabled, raise, clear, hold] = a;
  const auto &[from_b, to_b, enabled_b, raise_b, clear_b, hold_b] = b;
  return std::tie(from, to, enabled, raise, clear, hold) ==
         std::tie(from_b, to_b, enabled_b, raise_b, clear_b, hold_b);
}

unsigned minute_of_day(int64_t time) {
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_local(time / 1000);
  if (date == nullptr) return 0;  // a year that GLib does not support
  return static_cast<unsigned>(g_date_time_get_hour(date)) * kHour +
         static_cast<unsigned>(g_date_time_get_minute(date));
}

std::string time_of_day(unsigned minute) {
  g_autofree gchar *text = g_strdup_printf("%02u:%02u", minute / kHour, minute % kHour);
  return text;
}

Rule rule_in(const Period &period, Verdict verdict, Rule rule) {
  rule.enabled = period.enabled.value_or(rule.enabled);
  if (period.raise && *period.raise != rule.raise) {
    rule.clear = clear_for(verdict, *period.raise, rule);
    rule.raise = *period.raise;
  }
  rule.clear = period.clear.value_or(rule.clear);
  rule.hold = period.hold.value_or(rule.hold);
  return rule;
}

Rules rules_at(unsigned minute, const Rules &rules, const Schedules &schedules) {
  Rules in_force = rules;
  for (size_t i = 0; i < kVerdicts; ++i)
    for (const Period &period : schedules[i])
      if (contains(period, minute))
        in_force[i] = rule_in(period, static_cast<Verdict>(i), rules[i]);
  return in_force;
}

void lift(Verdict verdict, double least, Rules &rules, Schedules &schedules) {
  Rule &rule = rules[static_cast<size_t>(verdict)];
  if (rule.raise < least) {
    rule.clear = clear_for(verdict, least, rule);
    rule.raise = least;
  }
  for (Period &period : schedules[static_cast<size_t>(verdict)])
    if (period.raise) period.raise = std::max(*period.raise, least);
}

std::vector<Rule> all_rules(Verdict verdict, const Rules &rules, const Schedules &schedules) {
  const auto i = static_cast<size_t>(verdict);
  std::vector<Rule> all = {rules[i]};
  for (const Period &period : schedules[i]) all.push_back(rule_in(period, verdict, rules[i]));
  return all;
}

}  // namespace luminance
