// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/rulereader.h"

#include <glib.h>

#include <bitset>

#include "settings/limits.h"

namespace luminance {
namespace {

constexpr unsigned kMinutes = 24 * 60;  // of a day

unsigned read_time(Table &table, const std::string &key) {
  if (table.find(key) == nullptr) table.fail(key, "is missing");
  const std::string text = table.text(key);
  const auto digit = [&](size_t at) { return static_cast<unsigned>(text[at] - '0'); };
  bool is_time = text.size() == 5 && text[2] == ':';
  for (const size_t at : {0U, 1U, 3U, 4U}) is_time = is_time && g_ascii_isdigit(text[at]);
  const unsigned hour = is_time ? 10 * digit(0) + digit(1) : 0,
                 minute = is_time ? 10 * digit(3) + digit(4) : 0;
  if (!is_time || hour > 23 || minute > 59)
    table.fail(key, "is not a time of day from \"00:00\" to \"23:59\"");
  return hour * 60 + minute;
}

/// Reads a setting that a period may leave out.
template <class Value, class... Limits>
std::optional<Value> read_optional(Table &table, const std::string &key, Limits... limits) {
  if (table.find(key) == nullptr) return {};
  Value value = {};
  table.read(key, value, limits...);
  return value;
}

Period read_period(Table table, Verdict verdict) {
  Period period;
  period.from = read_time(table, "from");
  period.to = read_time(table, "to");
  if (period.from == period.to) table.fail("to", "is the same as from");
  const double max = max_value_of(verdict);
  period.enabled = read_optional<bool>(table, "enabled");
  period.raise = read_optional<double>(table, "raise", 0., max);
  period.clear = read_optional<double>(table, "clear", 0., max);
  period.hold = read_optional<double>(table, "hold", 0., kMaxHold);
  table.finish();
  return period;
}

void read_schedule(Table &table, Verdict verdict, Schedule &schedule) {
  if (table.find("schedule") == nullptr) return;
  schedule.clear();
  std::bitset<kMinutes> taken;
  table.with_each("schedule", [&](Table each) {
    const Period period = read_period(each, verdict);
    for (unsigned minute = 0; minute < kMinutes; ++minute) {
      if (!contains(period, minute)) continue;
      if (taken.test(minute)) each.fail("", "overlaps an earlier period at " + time_of_day(minute));
      taken.set(minute);
    }
    schedule.push_back(period);
  });
}

void check_rule(const Table &table, Verdict verdict, const Rule &rule, const Schedule &schedule) {
  const std::string_view error = clear_error(verdict, rule);
  if (!error.empty()) table.fail("clear", std::string(error));
  for (size_t i = 0; i < schedule.size(); ++i) {
    const std::string_view then = clear_error(verdict, rule_in(schedule[i], verdict, rule));
    if (!then.empty()) table.fail("schedule[" + std::to_string(i) + "].clear", std::string(then));
  }
}

void read_rule(Table table, Verdict verdict, Rule &rule, Schedule &schedule) {
  const double max = max_value_of(verdict);
  const Rule before = rule;
  table.read("enabled", rule.enabled);
  // A schedule for all cameras must not enable the verdict again.
  if (table.find("enabled") != nullptr && !rule.enabled) schedule.clear();
  table.read("raise", rule.raise, 0, max);
  // If `clear` is not set, it keeps its distance from `raise`.
  if (rule.raise != before.raise) rule.clear = clear_for(verdict, rule.raise, before);
  table.read("clear", rule.clear, 0, max);
  table.read("hold", rule.hold, 0, kMaxHold);
  read_schedule(table, verdict, schedule);
  table.finish();
  check_rule(table, verdict, rule, schedule);
}

}  // namespace

void read_rules(Table table, Rules &rules, Schedules &schedules) {
  for (size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const std::string name(name_of(verdict));
    const nlohmann::json *value = table.find(name);
    if (value == nullptr) continue;
    if (!value->is_boolean()) {
      read_rule(Table(*value, table.path_of(name)), verdict, rules[i], schedules[i]);
      continue;
    }
    rules[i].enabled = value->get<bool>();
    if (!rules[i].enabled) schedules[i].clear();
  }
  table.finish();
}

}  // namespace luminance
