// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/incidentquery.h"

#include <string>
#include <string_view>
#include <utility>

#include "history/damage.h"

namespace luminance {
namespace {

constexpr char kSelect[] =
    "SELECT i.number, id, verdict, since, until, reason, value, threshold, maintenance, "
    "acknowledged, comment, name, "
    "(SELECT taken FROM incident_picture p WHERE p.incident = i.number), acknowledged_by "
    "FROM incident i LEFT JOIN camera ON camera.number = i.camera ";

/// Returns nothing for a damaged incident, or for a verdict that this version does not know.
std::optional<KeptIncident> incident_of(const Database &database, const Results &results) {
  const auto verdict = verdict_named(results.text(2));
  if (!verdict) return {};
  KeptIncident incident;
  incident.number = results.integer(0);
  incident.camera = results.text(1);
  incident.verdict = *verdict;
  incident.since = results.integer(3);
  incident.until = results.integer(4);
  incident.reason = results.text(5);
  incident.value = results.real(6);
  incident.threshold = results.real(7);
  incident.is_in_maintenance = results.integer(8) == 1;
  if (const int64_t time = results.integer(9); time >= kEarliest) incident.acknowledged = time;
  incident.comment = results.text(10);
  incident.name = results.text(11);
  if (const int64_t time = results.integer(12); time >= kEarliest) incident.picture_taken = time;
  incident.acknowledged_by = results.text(13);
  return is_sound(database, incident.number, incident) ? std::optional(incident) : std::nullopt;
}

std::string query_of(const IncidentFilter &filter) {
  std::string sql = kSelect;
  sql +=
      "WHERE (reason IS NULL OR +until >= ?1) AND since <= ?2 AND (since, i.number) < (?3, ?4) "
      "AND (?6 = '' OR verdict = ?6)";
  if (filter.camera) sql += " AND i.camera = (SELECT number FROM camera WHERE id = ?5)";
  if (filter.is_open) sql += *filter.is_open ? " AND reason IS NULL" : " AND reason IS NOT NULL";
  if (filter.is_acknowledged)
    sql += *filter.is_acknowledged ? " AND acknowledged IS NOT NULL" : " AND acknowledged IS NULL";
  return sql + " ORDER BY since DESC, i.number DESC";
}

}  // namespace

void each_incident(Database &database, const IncidentFilter &filter, size_t limit,
                   const std::function<void(KeptIncident)> &take) {
  Statement statement(database, query_of(filter).c_str());
  const IncidentCursor before = filter.before.value_or(IncidentCursor{INT64_MAX, INT64_MAX});
  const std::string camera = filter.camera.value_or("");
  const std::string_view verdict = filter.verdict ? name_of(*filter.verdict) : "";
  Results results =
      statement.with(filter.from, filter.to, before.since, before.number, camera, verdict);
  Descending order(database, "incident", INT64_MIN, filter.to);
  while (limit > 0 && results.next()) {
    order.check(results.integer(3), results.integer(0));
    auto incident = incident_of(database, results);
    if (!incident) continue;
    take(*std::move(incident));
    --limit;
  }
}

std::optional<KeptIncident> incident_in(Database &database, int64_t number) {
  Statement statement(database, (std::string(kSelect) + "WHERE i.number = ?1").c_str());
  Results results = statement.with(number);
  return results.next() ? incident_of(database, results) : std::nullopt;
}

std::string incident_picture_in(Database &database, int64_t number) {
  Statement statement(database, "SELECT picture FROM incident_picture WHERE incident = ?1");
  Results results = statement.with(number);
  return results.next() ? results.blob(0) : std::string();
}

}  // namespace luminance
