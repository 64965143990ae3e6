// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/message.h"

#include <glib.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "log/log.h"

namespace luminance {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNamed = 3;          // cameras in a subject
constexpr glong kMaxNameLength = 60;  // characters of a name in a subject

std::string time_text(int64_t time) {
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_local(time / 1000);
  g_autofree gchar *text =
      date != nullptr ? g_date_time_format(date, "%Y-%m-%d %H:%M:%S %Z") : nullptr;
  return text != nullptr ? text : "?";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string short_name(const std::string &name) {
  const std::string line = on_one_line(name);
  if (g_utf8_strlen(line.c_str(), -1) <= kMaxNameLength) return line;
  g_autofree gchar *begin = g_utf8_substring(line.c_str(), 0, kMaxNameLength);
  return std::string(begin) + "…";
}

std::string line_of(const Alert &alert) {
  const std::string title(title_of(alert.verdict)), begin = time_text(alert.since);
  std::string text = on_one_line(alert.name) + ": ";
  switch (alert.event) {
    case Alert::Event::kRaised: text += title + " since " + begin; break;
    case Alert::Event::kReminder: text += "still: " + title + " since " + begin; break;
    case Alert::Event::kCleared:
      text += "over: " + title + " from " + begin + " to " + time_text(alert.cleared.value_or(0));
      if (alert.cause == Cause::kValue) break;
      return text + " (" + std::string(phrase_of(alert.cause)) + ")\n";
  }
  return text + " (" + std::string(quantity_of(alert.verdict)) + ": " + number(alert.value) +
         ", threshold: " + number(alert.threshold) + ")\n";
}

/// Returns, for example, "2 new problems, 1 problem over".
std::string counts_of(const std::vector<Alert> &alerts) {
  std::string text;
  const auto add = [&](Alert::Event event, const char *one, const char *many) {
    const auto count = std::count_if(alerts.begin(), alerts.end(),
                                     [&](const Alert &alert) { return alert.event == event; });
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + (count == 1 ? one : many);
  };
  add(Alert::Event::kRaised, " new problem", " new problems");
  add(Alert::Event::kReminder, " problem lasts", " problems last");
  add(Alert::Event::kCleared, " problem over", " problems over");
  return text;
}

std::string names_of(const std::vector<Alert> &alerts) {
  std::vector<std::string> cameras, names;
  for (const Alert &alert : alerts) {
    if (std::find(cameras.begin(), cameras.end(), alert.camera) != cameras.end()) continue;
    cameras.push_back(alert.camera);
    names.push_back(short_name(alert.name));
  }
  std::string text;
  for (size_t i = 0; i < std::min(kNamed, names.size()); ++i)
    text += (text.empty() ? "" : ", ") + names[i];
  if (names.size() > kNamed) text += " and " + std::to_string(names.size() - kNamed) + " more";
  return text;
}

const char *name_of(Alert::Event event) {
  switch (event) {
    case Alert::Event::kRaised: return "raised";
    case Alert::Event::kReminder: return "reminder";
    default: return "cleared";
  }
}

Json alert_json(const Alert &alert) {
  const std::string verdict(luminance::name_of(alert.verdict));
  Json json;
  json["id"] = alert.camera + "/" + verdict + "/" + std::to_string(alert.since);
  json["event"] = name_of(alert.event);
  json["camera"] = alert.camera;
  json["name"] = alert.name;
  json["verdict"] = verdict;
  json["title"] = title_of(alert.verdict);
  json["since"] = alert.since;
  json["cleared"] = nullptr;
  if (alert.cleared) json["cleared"] = *alert.cleared;
  json["reason"] = nullptr;
  if (alert.event == Alert::Event::kCleared) json["reason"] = luminance::name_of(alert.cause);
  json["value"] = alert.value;
  json["threshold"] = alert.threshold;
  json["quantity"] = quantity_of(alert.verdict);
  return json;
}

}  // namespace

std::string subject_of(const Message &message) {
  if (message.is_test) return "Test message of luminance-monitor";
  const std::vector<Alert> &alerts = message.alerts;
  if (alerts.size() != 1) return counts_of(alerts) + ": " + names_of(alerts);
  const std::string what =
      std::string(title_of(alerts[0].verdict)) + ": " + short_name(alerts[0].name);
  switch (alerts[0].event) {
    case Alert::Event::kReminder: return "Still: " + what;
    case Alert::Event::kCleared: return "Over: " + what;
    default: return what;
  }
}

std::string body_of(const Message &message) {
  if (message.is_test)
    return "This is a test of the notifications of luminance-monitor. Alerts will come this way.\n";
  std::string text;
  for (const Alert &alert : message.alerts) text += line_of(alert);
  if (message.omitted > 0)
    text += std::to_string(message.omitted) +
            " earlier alerts are missing: they could not be sent in time.\n";
  return text;
}

std::string json_of(const Message &message) {
  Json json;
  json["id"] = message.id;
  json["time"] = message.time;
  json["version"] = LUMINANCE_VERSION;
  json["test"] = message.is_test;
  json["subject"] = subject_of(message);
  json["text"] = body_of(message);
  json["omitted"] = message.omitted;
  json["alerts"] = Json::array();
  for (const Alert &alert : message.alerts) json["alerts"].push_back(alert_json(alert));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace luminance
