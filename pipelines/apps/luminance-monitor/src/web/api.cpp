// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/api.h"

#include <algorithm>

namespace luminance {
namespace {

double seconds_of(Time time) { return static_cast<double>(time) / kSecond; }

Json interval_json(const Interval &interval, const Clock &clock) {
  Json json;
  json["time"] = clock.wall(interval.time);
  json["stream_time_ns"] = nullptr;
  if (GST_CLOCK_TIME_IS_VALID(interval.stream_time)) json["stream_time_ns"] = interval.stream_time;
  json["duration"] = seconds_of(interval.length);
  json["frames"] = interval.frames;
  json["pixels"] = interval.pixels;
  json["mean"] = interval.mean;
  json["stddev"] = interval.stddev;
  json["min"] = interval.min;
  json["max"] = interval.max;
  json["median"] = interval.median;
  json["p1"] = interval.p1;
  json["p5"] = interval.p5;
  json["p95"] = interval.p95;
  json["p99"] = interval.p99;
  json["clipped_low"] = interval.clipped_low;
  json["clipped_high"] = interval.clipped_high;
  json["histogram"] = interval.bins;
  return json;
}

Json standing_json(const Standing &standing, const Clock &clock) {
  return {{"name", name_of(standing.verdict)},   {"title", title_of(standing.verdict)},
          {"since", clock.wall(standing.since)}, {"value", standing.value},
          {"threshold", standing.threshold},     {"quantity", quantity_of(standing.verdict)}};
}

void add(const Rule &rule, Json &json) {
  json["enabled"] = rule.enabled;
  json["raise"] = rule.raise;
  json["clear"] = rule.clear;
  json["hold"] = rule.hold;
}

/// Returns the rule at each time of the day; empty if the rule is always the same.
Json schedule_json(Verdict verdict, const CameraSettings &camera) {
  const Schedule &schedule = camera.schedules[static_cast<size_t>(verdict)];
  const std::vector<Rule> rules = all_rules(verdict, camera.rules, camera.schedules);
  Json json = Json::array();
  if (schedule.empty()) return json;
  json.push_back({{"from", nullptr}, {"to", nullptr}});
  for (const Period &period : schedule)
    json.push_back({{"from", time_of_day(period.from)}, {"to", time_of_day(period.to)}});
  for (size_t i = 0; i < rules.size(); ++i) add(rules[i], json[i]);
  return json;
}

Json rules_json(const Camera &camera) {
  Json json = Json::array();
  for (size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    Json rule = {{"name", name_of(verdict)}, {"title", title_of(verdict)}};
    add(camera.rules()[i], rule);
    rule["side"] = side_of(verdict);
    rule["quantity"] = quantity_of(verdict);
    rule["schedule"] = schedule_json(verdict, camera.settings());
    json.push_back(rule);
  }
  return json;
}

Json area_json(const Area &area) { return {area.x, area.y, area.width, area.height}; }

void add(const Region &region, Json &json) {
  json["region"] = nullptr;
  if (region.area) json["region"] = area_json(*region.area);
  json["masks"] = Json::array();
  for (const Area &mask : region.masks) json["masks"].push_back(area_json(mask));
}

Json maintenance_json(const Maintenance &maintenance) {
  Json json = {{"since", maintenance.since}, {"until", nullptr}, {"comment", maintenance.comment}};
  if (maintenance.until) json["until"] = *maintenance.until;
  return json;
}

Json row_json(const Row &row) {
  Json json;
  json["time"] = row.time;
  json["duration"] = row.duration;
  json["frames"] = row.frames;
  json["mean"] = row.mean;
  json["min_mean"] = row.min_mean;
  json["max_mean"] = row.max_mean;
  json["stddev"] = row.stddev;
  json["p1"] = row.p1;
  json["median"] = row.median;
  json["p99"] = row.p99;
  json["clipped_low"] = row.clipped_low;
  json["clipped_high"] = row.clipped_high;
  json["verdicts"] = Json::array();
  for (const Verdict verdict : row.verdicts) json["verdicts"].push_back(name_of(verdict));
  return json;
}

}  // namespace

std::string text_of(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json camera_json(const Camera &camera, const Clock &clock) {
  Json json;
  json["id"] = camera.id();
  json["name"] = camera.name();
  json["location"] = camera.settings().location;
  json["status"] = name_of(camera.status());
  json["since"] = clock.wall(camera.status_since());
  json["error"] = camera.error();
  json["frames"] = camera.frames();
  json["reconnects"] = camera.reconnects();
  json["fps"] = camera.frame_rate();
  json["last_frame"] = nullptr;
  if (camera.last_frame()) json["last_frame"] = clock.wall(*camera.last_frame());
  json["reference"] = nullptr;
  if (camera.reference_time()) json["reference"] = *camera.reference_time();
  json["maintenance"] = nullptr;
  if (camera.maintenance()) json["maintenance"] = maintenance_json(*camera.maintenance());
  add(camera.settings().region, json);
  json["verdicts"] = Json::array();
  for (const Standing &standing : camera.standing())
    json["verdicts"].push_back(standing_json(standing, clock));
  json["rules"] = rules_json(camera);
  json["latest"] = nullptr;
  if (camera.interval()) json["latest"] = interval_json(*camera.interval(), clock);
  return json;
}

std::string error_of(const History *history) {
  return history != nullptr ? history->error() : std::string();
}

std::string notice_of(const History *history) {
  return history != nullptr ? history->notice() : std::string();
}

Json cameras_json(const Monitor &monitor, const History *history) {
  const Clock &clock = monitor.clock();
  Json json = {{"time", clock.wall(clock.now())},
               {"interval", monitor.interval()},
               {"version", LUMINANCE_VERSION},
               {"history_enabled", history != nullptr},
               {"history_error", error_of(history)},
               {"history_notice", notice_of(history)},
               {"cameras", Json::array()}};
  for (const auto &camera : monitor.cameras())
    json["cameras"].push_back(camera_json(*camera, clock));
  return json;
}

Json recent_json(const Camera &camera, const Monitor &monitor) {
  Json json = {{"id", camera.id()}, {"interval", monitor.interval()}, {"points", Json::array()}};
  for (const Point &point : camera.points())
    json["points"].push_back({monitor.clock().wall(point.time), point.mean, point.p1, point.p99});
  return json;
}

Json history_json(const std::string &camera, const std::vector<Row> &rows) {
  Json json = {{"id", camera}, {"rows", Json::array()}};
  for (const Row &row : rows) json["rows"].push_back(row_json(row));
  return json;
}

Json events_json(const std::vector<Event> &events) {
  Json json = {{"events", Json::array()}};
  for (const Event &event : events)
    json["events"].push_back({{"time", event.time},
                              {"camera", event.camera},
                              {"verdict", name_of(event.verdict)},
                              {"title", title_of(event.verdict)},
                              {"raised", event.raised},
                              {"value", event.value},
                              {"quantity", quantity_of(event.verdict)}});
  return json;
}

Json incident_json(const KeptIncident &incident, int64_t now) {
  const int64_t end = incident.is_open() ? std::max(incident.since, now) : incident.until;
  Json json;
  json["id"] = incident.number;
  json["camera"] = incident.camera;
  json["name"] = incident.name;
  json["verdict"] = name_of(incident.verdict);
  json["title"] = title_of(incident.verdict);
  json["quantity"] = quantity_of(incident.verdict);
  json["side"] = side_of(incident.verdict);
  json["begin"] = incident.since;
  json["end"] = nullptr;
  if (!incident.is_open()) json["end"] = incident.until;
  json["duration"] = static_cast<double>(end - incident.since) / 1000;
  json["reason"] = nullptr;
  if (!incident.is_open()) json["reason"] = incident.reason;
  json["value"] = incident.value;
  json["threshold"] = incident.threshold;
  json["acknowledged"] = nullptr;
  if (incident.acknowledged) json["acknowledged"] = *incident.acknowledged;
  json["acknowledged_by"] = incident.acknowledged_by;
  json["comment"] = incident.comment;
  json["maintenance"] = incident.is_in_maintenance;
  json["picture"] = nullptr;
  if (incident.picture_taken) json["picture"] = *incident.picture_taken;
  return json;
}

Json incidents_json(const std::vector<KeptIncident> &incidents, int64_t now) {
  Json json = {{"incidents", Json::array()}};
  for (const KeptIncident &incident : incidents)
    json["incidents"].push_back(incident_json(incident, now));
  return json;
}

Json notifications_json(const Notifier *notifier) {
  Json json = {{"channels", Json::array()}};
  if (notifier == nullptr) return json;
  for (const ChannelReport &report : notifier->channels()) {
    Json channel;
    channel["kind"] = report.kind;
    channel["address"] = report.address;
    channel["failing"] = report.is_failing;
    channel["waiting"] = report.waiting;
    channel["last_success"] = nullptr;
    if (report.last_success) channel["last_success"] = *report.last_success;
    channel["last_error"] = report.last_error;
    channel["last_error_time"] = nullptr;
    if (report.last_error_time) channel["last_error_time"] = *report.last_error_time;
    json["channels"].push_back(channel);
  }
  return json;
}

Json test_json(const std::vector<TestResult> &results) {
  Json json = {{"results", Json::array()}};
  for (const TestResult &result : results)
    json["results"].push_back({{"kind", result.kind},
                               {"address", result.address},
                               {"sent", result.error.empty()},
                               {"error", result.error}});
  return json;
}

}  // namespace luminance
