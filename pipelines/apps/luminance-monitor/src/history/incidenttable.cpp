// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/incidenttable.h"

#include <string_view>

#include "history/damage.h"

namespace luminance {

IncidentTable::IncidentTable(Database &database)
    : database_(database),
      prolong_(
          database,
          "UPDATE incident SET until = ?4 WHERE camera = (SELECT number FROM camera WHERE id = "
          "?1) AND verdict = ?2 AND since = ?3 AND reason IS nullif(?5, '') AND value IS ?6"),
      // An incident that lasts has an empty reason in memory and NULL in the file.
      change_(database,
              "UPDATE incident SET until = ?4, reason = nullif(?5, ''), value = ?6 WHERE camera = "
              "(SELECT number FROM camera WHERE id = ?1) AND verdict = ?2 AND since = ?3"),
      put_(database,
           "INSERT INTO incident (camera, verdict, since, until, reason, value, threshold, "
           "maintenance) SELECT number, ?2, ?3, ?4, nullif(?5, ''), ?6, ?7, ?8 FROM camera WHERE "
           "id = ?1"),
      put_picture_(
          database,
          "INSERT OR IGNORE INTO incident_picture SELECT number, ?4, ?5 FROM incident WHERE "
          "camera = (SELECT number FROM camera WHERE id = ?1) AND verdict = ?2 AND "
          "since = ?3"),
      limit_pictures_(database,
                      "DELETE FROM incident_picture WHERE incident <= (SELECT incident FROM "
                      "incident_picture ORDER BY incident DESC LIMIT 1 OFFSET ?1)"),
      open_(database,
            "SELECT incident.number, id, verdict, since, until, value, threshold, maintenance FROM "
            "incident LEFT JOIN camera ON camera.number = incident.camera WHERE reason IS NULL "
            "ORDER BY since DESC, incident.number DESC"),
      find_(database, "SELECT 1 FROM incident WHERE number = ?1"),
      acknowledge_(database,
                   "UPDATE incident SET acknowledged = iif(?2, coalesce(acknowledged, ?3), NULL), "
                   "acknowledged_by = iif(?2, iif(acknowledged IS NULL, ?4, acknowledged_by), '') "
                   "WHERE number = ?1"),
      comment_(database, "UPDATE incident SET comment = ?2 WHERE number = ?1"),
      delete_(database,
              "DELETE FROM incident WHERE number IN (SELECT number FROM incident WHERE reason IS "
              "NOT NULL AND until < ?1 ORDER BY until LIMIT ?2)") {}

void IncidentTable::write(const Incident &incident) {
  prolong_.run(incident.camera, name_of(incident.verdict), incident.since, incident.until,
               incident.reason, incident.value);
  if (database_.changes() > 0) return;
  is_changed_ = true;
  change_.run(incident.camera, name_of(incident.verdict), incident.since, incident.until,
              incident.reason, incident.value);
  if (database_.changes() > 0) return;
  put_.run(incident.camera, name_of(incident.verdict), incident.since, incident.until,
           incident.reason, incident.value, incident.threshold,
           int64_t{incident.is_in_maintenance});
}

void IncidentTable::write(const IncidentPicture &picture) {
  const IncidentKey &of = picture.incident;
  put_picture_.run(of.camera, name_of(of.verdict), of.since, Blob{*picture.jpeg}, picture.taken);
  if (database_.changes() == 0) return;
  is_changed_ = true;
  limit_pictures_.run(kMaxPictures);
}

std::vector<Incident> IncidentTable::open() {
  std::vector<Incident> found;
  Results results = open_.with();
  Descending order(database_, "incident", INT64_MIN, INT64_MAX);
  while (results.next()) {
    const int64_t number = results.integer(0);
    order.check(results.integer(3), number);
    const auto verdict = verdict_named(results.text(2));
    Incident incident = {results.text(1),
                         verdict.value_or(Verdict::kNoFrames),
                         results.integer(3),
                         results.integer(4),
                         {},
                         results.real(5),
                         results.real(6),
                         results.integer(7) != 0};
    if (verdict && is_sound(database_, number, incident)) found.push_back(std::move(incident));
  }
  return found;
}

bool IncidentTable::amend(int64_t number, const Amendment &amendment, int64_t now) {
  Transaction transaction(database_);
  if (!find_.with(number).next()) return false;
  if (amendment.acknowledged)
    acknowledge_.run(number, int64_t{*amendment.acknowledged}, now,
                     std::string_view(amendment.acknowledged_by));
  if (amendment.comment) comment_.run(number, std::string_view(*amendment.comment));
  transaction.commit();
  is_changed_ = true;
  return true;
}

void IncidentTable::delete_expired(int64_t oldest, int64_t limit) {
  delete_.run(oldest, limit);
  if (database_.changes() > 0) is_changed_ = true;
}

}  // namespace luminance
