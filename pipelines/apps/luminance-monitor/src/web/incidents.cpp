// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/incidents.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "history/csv.h"
#include "web/api.h"
#include "web/requests.h"

namespace luminance {
namespace {

constexpr int64_t kMaxListed = 1000;
constexpr char kPicture[] = "/picture.jpg";
constexpr char kBy[] = "acknowledged_by";
constexpr size_t kAll = std::numeric_limits<size_t>::max();

constexpr char kUnknown[] = "no such incident";

/// Returns the integer in the text; nothing if it is negative or not an integer.
std::optional<int64_t> number_in(std::string_view text) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0 || text.front() == '-') return {};
  return value;
}

std::optional<IncidentCursor> cursor_of(const Exchange &exchange) {
  const std::string text = exchange.parameter("before").value_or("");
  if (text.empty()) return {};
  const size_t dash = std::min(text.find('-'), text.size());
  const auto since = number_in(text.substr(0, dash));
  const auto number = number_in(text.substr(std::min(dash + 1, text.size())));
  if (!since || !number) throw Refusal(400, "before must be the value of next in another response");
  return IncidentCursor{*since, *number};
}

std::string next_of(const IncidentCursor &cursor) {
  return std::to_string(cursor.since) + '-' + std::to_string(cursor.number);
}

/// Returns whether the parameter is `yes` and not `no`; nothing for `any`, or without the
/// parameter. Throws Refusal for other values.
std::optional<bool> choice(const Exchange &exchange, const char *name, const std::string &yes,
                           const std::string &no, const std::string &any) {
  const std::string text = exchange.parameter(name).value_or("");
  if (text.empty() || text == any) return {};
  if (text != yes && text != no)
    throw Refusal(400, std::string(name) + " must be " + yes + ", " + no + " or " + any);
  return text == yes;
}

IncidentFilter filter_of(const Exchange &exchange, const std::optional<std::string> &camera) {
  IncidentFilter filter;
  const Range range = range_of(exchange, kLatest, {});
  filter.from = range.from;
  filter.to = range.to;
  if (camera && !camera->empty()) filter.camera = camera;
  if (const auto name = exchange.parameter("verdict"); name && !name->empty()) {
    filter.verdict = verdict_named(*name);
    if (!filter.verdict) throw Refusal(400, "no such verdict");
  }
  filter.is_open = choice(exchange, "state", "open", "closed", "all");
  filter.is_acknowledged = choice(exchange, "acknowledged", "yes", "no", "any");
  filter.before = cursor_of(exchange);
  return filter;
}

/// `user`: the user who is logged in, whose name replaces the given one; empty if not known.
Amendment amendment_of(const Json &json, const std::string &user) {
  Amendment amendment;
  for (const auto &[name, value] : json.items()) {
    if (name == "acknowledged" && value.is_boolean())
      amendment.acknowledged = value.get<bool>();
    else if (name == "comment" && value.is_string())
      amendment.comment = checked_comment(value.get<std::string>());
    else if (name == kBy && value.is_string())
      amendment.acknowledged_by = checked_name(name, value.get<std::string>());
    else if (name == "acknowledged")
      throw Refusal(400, name + " must be true or false");
    else if (name == "comment" || name == kBy)
      throw Refusal(400, name + " must be a text");
    else
      throw Refusal(400, "only acknowledged, acknowledged_by and comment can be changed");
  }
  if (json.contains(kBy) && !amendment.acknowledged.value_or(false))
    throw Refusal(400, "acknowledged_by needs acknowledged to be true");
  if (!user.empty()) amendment.acknowledged_by = user;
  return amendment;
}

}  // namespace

void IncidentApi::answer(const Held &exchange, const std::string &rest,
                         const std::optional<std::string> &camera, int64_t now,
                         const std::string &user) {
  if (rest.empty()) return list(exchange, filter_of(*exchange, camera), now);
  if (rest == ".csv") return csv(exchange, filter_of(*exchange, camera), now);
  if (rest.front() != '/') throw Refusal(404, "not found");
  const size_t slash = std::min(rest.find('/', 1), rest.size());
  const std::string what = rest.substr(slash);
  const std::optional<int64_t> number = number_in(rest.substr(1, slash - 1));
  if (!number) throw Refusal(404, kUnknown);
  if (what == kPicture) return picture(exchange, *number);
  if (!what.empty()) throw Refusal(404, "not found");
  if (exchange->is_post()) return amend(exchange, *number, now, user);
  one(exchange, *number, now);
}

void IncidentApi::list(const Held &exchange, IncidentFilter filter, int64_t now) {
  const auto limit = static_cast<size_t>(number(*exchange, "limit", 1, kMaxListed, 100));
  const auto query = [filter = std::move(filter), limit, now](Reader &reader) {
    std::vector<KeptIncident> incidents = reader.incidents(filter, limit + 1);
    const bool has_more = incidents.size() > limit;
    if (has_more) incidents.resize(limit);
    Json json = incidents_json(incidents, now);
    json["next"] = nullptr;
    if (has_more) json["next"] = next_of({incidents.back().since, incidents.back().number});
    return text_of(json);
  };
  submit_(exchange, query, "application/json");
}

void IncidentApi::csv(const Held &exchange, const IncidentFilter &filter, int64_t now) {
  const auto query = [filter, now](Reader &reader) {
    std::string lines = kIncidentCsvHeader;
    for (const KeptIncident &incident : reader.incidents(filter, kAll))
      lines += csv_line(incident, now);
    return lines;
  };
  submit_(exchange, query, "text/csv; charset=utf-8");
}

void IncidentApi::one(const Held &exchange, int64_t number, int64_t now) {
  const auto query = [number, now](Reader &reader) {
    const std::optional<KeptIncident> incident = reader.incident(number);
    if (!incident) throw Queries::Missing(kUnknown);
    return text_of(incident_json(*incident, now));
  };
  submit_(exchange, query, "application/json");
}

void IncidentApi::picture(const Held &exchange, int64_t number) {
  const auto query = [number](Reader &reader) {
    std::string jpeg = reader.incident_picture(number);
    if (jpeg.empty()) throw Queries::Missing("the incident has no picture");
    return jpeg;
  };
  submit_(exchange, query, "image/jpeg");
}

void IncidentApi::amend(const Held &exchange, int64_t number, int64_t now,
                        const std::string &user) try {
  if (!is_own_post(*exchange)) return;
  const auto amended = history_->amend(number, amendment_of(object_of(*exchange), user));
  if (!amended) throw Refusal(404, kUnknown);
  exchange->answer({200, "application/json", text_of(incident_json(*amended, now))});
} catch (const HistoryError &error) {
  throw Refusal(503, error.what());
}

}  // namespace luminance
