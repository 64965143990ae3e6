// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/store.h"

#include <map>
#include <string>
#include <vector>

#include "history/columns.h"
#include "history/damage.h"
#include "history/incidentquery.h"
#include "history/schema.h"

namespace luminance {
namespace {

// Each write deletes at most this many expired records more than it adds, rows of each camera. So a
// clock that was set ahead by mistake for a while does not delete the whole history.
constexpr int64_t kExtraDeletedRows = 60;
constexpr int64_t kExtraDeletedEvents = 1000;

}  // namespace

Store::Store(const std::string &file, int64_t row, const Monitor &monitor)
    : monitor_(monitor),
      row_(row),
      database_(open_to_write(file, row)),
      summaries_(database_),
      references_(database_),
      incidents_(database_),
      maintenance_(database_),
      name_camera_(
          database_,
          "INSERT INTO camera (id, name, source, min_summary_length) VALUES (?1, ?2, ?3, ?4) "
          "ON CONFLICT (id) DO UPDATE SET name = ?2, source = ?3 "
          "WHERE name <> ?2 OR source <> ?3"),
      name_removed_(
          database_,
          "INSERT INTO camera (id, name, source, min_summary_length) VALUES (?1, ?2, ?3, ?4) "
          "ON CONFLICT (id) DO NOTHING"),
      find_camera_(database_,
                   "SELECT number, min_summary_length, summarized_until FROM camera WHERE id = ?1"),
      find_row_(database_, "SELECT * FROM measurement WHERE camera = ?1 AND time = ?2"),
      put_row_(
          database_,
          "INSERT OR REPLACE INTO measurement VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
          "?11, ?12, ?13, ?14)"),
      put_event_(database_,
                 "INSERT INTO event (camera, time, verdict, raised, value) "
                 "VALUES ((SELECT number FROM camera WHERE id = ?1), ?2, ?3, ?4, ?5)"),
      cameras_(database_, "SELECT number FROM camera ORDER BY number"),
      first_(database_,
             "SELECT time FROM measurement WHERE camera = ?1 AND time >= ?2 ORDER BY time LIMIT 1"),
      delete_rows_(database_,
                   "DELETE FROM measurement WHERE camera = ?1 AND time <= (SELECT max(time) FROM "
                   "(SELECT time FROM measurement WHERE camera = ?1 AND time < ?2 ORDER BY time "
                   "LIMIT ?3))"),
      delete_events_(database_,
                     "DELETE FROM event WHERE number IN "
                     "(SELECT number FROM event WHERE time < ?1 ORDER BY time LIMIT ?2)"),
      delete_cameras_(
          database_,
          "DELETE FROM camera WHERE NOT EXISTS "
          "(SELECT 1 FROM measurement WHERE measurement.camera = camera.number) AND NOT "
          "EXISTS (SELECT 1 FROM event WHERE event.camera = camera.number) AND NOT "
          "EXISTS (SELECT 1 FROM incident WHERE incident.camera = camera.number) AND NOT "
          "EXISTS (SELECT 1 FROM maintenance WHERE maintenance.camera = camera.number) AND NOT "
          "EXISTS (SELECT 1 FROM summary WHERE summary.camera = camera.number)"),
      same_name_(database_, "SELECT id, source FROM camera WHERE name = ?1"),
      rename_(database_, "UPDATE camera SET id = ?2 WHERE id = ?1") {
  move_to_new_ids();
}

/// For a camera whose id is not in the file, returns the id of the only stored camera with the same
/// name and source that is not another camera of the monitor.
std::optional<std::string> Store::old_id_of(const CameraSettings &camera) {
  if (camera.source.empty() || find_camera_.with(camera.id).next()) return {};
  std::vector<std::string> found;
  Results rows = same_name_.with(camera.name);
  while (found.size() < 2 && rows.next()) {
    const std::string id = rows.text(0), source = rows.text(1);
    if (source == camera.source && monitor_.camera(id) == nullptr) found.push_back(id);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

void Store::move_to_new_ids() {
  std::map<std::string, std::vector<const Camera *>> successors;  // by the id in the file
  Transaction transaction(database_);
  for (const auto &camera : monitor_.cameras())
    if (const auto id = old_id_of(camera->settings())) successors[*id].push_back(camera.get());
  for (const auto &[id, cameras] : successors)
    if (cameras.size() == 1) rename_.run(id, cameras.front()->id());
  transaction.commit();
}

void Store::name_cameras() {
  for (const auto &camera : monitor_.cameras())
    name_camera_.run(camera->id(), camera->name(), camera->settings().source,
                     min_summary_length_for(row_));
}

void Store::write(const Batch &batch, int64_t oldest) {
  Transaction transaction(database_);
  name_cameras();
  for (const auto &[id, camera] : batch.removed)
    name_removed_.run(id, camera.name, camera.source, min_summary_length_for(row_));
  for (const Batch::Entry &entry : batch.rows) write(entry);
  for (const Event &event : batch.events)
    put_event_.run(event.camera, event.time, name_of(event.verdict), int64_t{event.raised},
                   event.value);
  for (const auto &[id, reference] : batch.references) references_.write(id, reference);
  for (const auto &[key, incident] : batch.incidents) incidents_.write(incident);
  for (const IncidentPicture &picture : batch.pictures) incidents_.write(picture);
  for (const auto &[id, maintenance] : batch.maintenance) maintenance_.write(id, maintenance);
  delete_expired(oldest, batch);
  transaction.commit();
}

std::optional<KeptIncident> Store::amend_incident(int64_t number, const Amendment &amendment,
                                                  int64_t now) {
  if (!incidents_.amend(number, amendment, now)) return {};
  return incident_in(database_, number);
}

SummaryState Store::find(const std::string &camera) {
  Results found = find_camera_.with(camera);
  if (!found.next()) database_.fail("a camera is missing; the file is damaged");
  const SummaryState state = {found.integer(0), found.integer(1), found.integer(2)};
  const std::string fault = fault_of(state);
  if (!fault.empty()) database_.fail("camera " + camera + ": " + fault + "; the file is damaged");
  return state;
}

void Store::write(const Batch::Entry &entry) {
  SummaryState camera = find(entry.camera);
  Row row = entry.row;
  const bool is_late = row.time < camera.until;
  bool is_new = true;
  {
    Results there = find_row_.with(camera.camera, row.time);
    const std::optional<Row> known = there.next() ? std::optional(row_of(there, 1)) : std::nullopt;
    if (known && is_sound(database_, camera.camera, *known)) {
      merge(row, *known);
      is_new = false;
    }
  }
  if (is_late) summaries_.refresh_first_summary(camera, row, first_of(camera.camera));
  put_row_.run(camera.camera, row.time, row.duration, static_cast<int64_t>(row.frames), row.mean,
               row.min_mean, row.max_mean, row.stddev, row.p1, row.median, row.p99, row.clipped_low,
               row.clipped_high, text_of(row.verdicts));
  if (is_late)
    summaries_.add(camera, entry.row, is_new);
  else
    summaries_.advance(camera, row.time);
}

void Store::delete_expired(int64_t oldest, const Batch &written) {
  const auto rows = kExtraDeletedRows + static_cast<int64_t>(written.rows.size());
  const auto events = kExtraDeletedEvents + static_cast<int64_t>(written.events.size());
  std::vector<int64_t> cameras;
  {
    Ascending order(database_, "camera", INT64_MIN, INT64_MAX);
    Results found = cameras_.with();
    while (found.next()) {
      cameras.push_back(found.integer(0));
      order.check(cameras.back());
    }
  }
  for (const int64_t camera : cameras) delete_expired_rows(camera, oldest, rows);
  delete_events_.run(oldest, events);
  incidents_.delete_expired(oldest, events);
  maintenance_.delete_expired(oldest);
  delete_cameras_.run();
  // New rows reuse the pages of deleted ones; the file shrinks only if many more rows were deleted.
  if (database_.number("PRAGMA freelist_count") > database_.number("PRAGMA page_count") / 8)
    database_.run("PRAGMA incremental_vacuum(64)");
}

void Store::delete_expired_rows(int64_t camera, int64_t oldest, int64_t limit) {
  delete_rows_.run(camera, oldest, limit);
  if (database_.changes() > 0) summaries_.delete_before(camera, first_of(camera));
}

std::optional<int64_t> Store::first_of(int64_t camera) {
  Results first = first_.with(camera, kEarliest);
  if (!first.next()) return {};
  const int64_t time = first.integer(0);
  Ascending(database_, row_name(camera), kEarliest, INT64_MAX).check(time);
  return time;
}

}  // namespace luminance
