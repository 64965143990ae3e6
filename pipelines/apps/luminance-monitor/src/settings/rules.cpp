// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/rules.h"

#include <gio/gio.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <tuple>

extern "C" {
#include "rules-resources.h"
}

namespace luminance {
namespace {

using nlohmann::json;

struct Kind {
  std::string name, title, quantity;
  bool bad_above, is_duration;
  Rule rule;
  double max_value;
  std::array<bool, kVerdicts> explained;  // verdicts that it explains
};

struct Data {
  std::array<Kind, kVerdicts> kinds;  // in the order of the enumerators
  ChangeTimes change;
};

Kind read_kind(const json &entry) {
  const auto text = [&](const char *key) { return entry.at(key).get<std::string>(); };
  const auto number = [&](const char *key) { return entry.at(key).get<double>(); };
  return {text("name"),
          text("title"),
          text("quantity"),
          text("bad") == "above",
          entry.at("duration").get<bool>(),
          {true, number("raise"), number("clear"), number("hold")},
          number("max"),
          {}};
}

/// rules.json, which is compiled in.
json document() {
  g_autoptr(GBytes) bytes = g_resource_lookup_data(
      rules_get_resource(), "/luminance-monitor/rules.json", G_RESOURCE_LOOKUP_FLAGS_NONE, nullptr);
  if (bytes == nullptr) throw std::logic_error("rules.json is missing");
  gsize size = 0;
  const auto *text = static_cast<const char *>(g_bytes_get_data(bytes, &size));
  return json::parse(text, text + size);
}

Data read_data() {
  const json all = document();
  const json &entries = all.at("verdicts");
  if (entries.size() != kVerdicts)
    throw std::logic_error("rules.json: expected " + std::to_string(kVerdicts) + " verdicts, got " +
                           std::to_string(entries.size()));
  Data data;
  for (size_t i = 0; i < kVerdicts; ++i) {
    data.kinds[i] = read_kind(entries.at(i));
    const json &explained = entries.at(i).at("explains");
    for (size_t other = 0; other < kVerdicts; ++other)
      data.kinds[i].explained[other] =
          std::count(explained.begin(), explained.end(), entries.at(other).at("name")) > 0;
  }
  const json &change = all.at("change");
  data.change = {change.at("adaptation").get<double>(), change.at("accepted").get<double>()};
  return data;
}

const Data &data() {
  static const Data data = read_data();
  return data;
}

const Kind &kind_of(Verdict verdict) { return data().kinds[static_cast<size_t>(verdict)]; }

/// The value that is farthest from raising the verdict.
double best_of(Verdict verdict) { return is_bad_above(verdict) ? 0 : max_value_of(verdict); }

}  // namespace

bool operator==(const Rule &a, const Rule &b) {
  // The bindings name every member, so that no member that is added later is forgotten here.
  const auto &[enabled, raise, clear, hold] = a;
  const auto &[enabled_b, raise_b, clear_b, hold_b] = b;
  return std::tie(enabled, raise, clear, hold) == std::tie(enabled_b, raise_b, clear_b, hold_b);
}

std::string_view name_of(Verdict verdict) { return kind_of(verdict).name; }
std::string_view title_of(Verdict verdict) { return kind_of(verdict).title; }
std::string_view quantity_of(Verdict verdict) { return kind_of(verdict).quantity; }
bool is_bad_above(Verdict verdict) { return kind_of(verdict).bad_above; }

std::string_view side_of(Verdict verdict) { return is_bad_above(verdict) ? "above" : "below"; }

std::optional<Verdict> verdict_named(std::string_view name) {
  for (size_t i = 0; i < kVerdicts; ++i)
    if (data().kinds[i].name == name) return static_cast<Verdict>(i);
  return {};
}

const Rules &default_rules() {
  static const Rules rules = [] {
    Rules made;
    for (size_t i = 0; i < kVerdicts; ++i) made[i] = data().kinds[i].rule;
    return made;
  }();
  return rules;
}

bool is_duration(Verdict verdict) { return kind_of(verdict).is_duration; }

bool explains(Verdict verdict, Verdict other) {
  return kind_of(verdict).explained[static_cast<size_t>(other)];
}

double max_value_of(Verdict verdict) { return kind_of(verdict).max_value; }

const ChangeTimes &change_times() { return data().change; }

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
