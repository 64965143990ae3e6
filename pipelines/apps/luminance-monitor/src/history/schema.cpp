// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/schema.h"

#include <algorithm>
#include <string>
#include <vector>

#include "history/damage.h"
#include "history/summaries.h"
#include "history/walks.h"

namespace luminance {
namespace {

constexpr int64_t kApplication = 0x6c756d69;  // "lumi"

// Times to wait for another process; the main loop is blocked meanwhile.
constexpr int kTimeout = 100, kOpenTimeout = 5000;  // milliseconds

// The rows of a camera lie together, in the order in which they are read.
// `camera`: `source` is a hash of the video's location; `min_summary_length` is the length of the
// shortest summaries, 0 if they are still to be made; `summarized_until` is the end of the latest
// summary.
// `reference`: the scenes that a camera is meant to see. It is deleted with the camera, when
// nothing else of the camera is left.
// `incident`: a verdict from when it was raised until it was cleared; `reason` says why it was
// cleared, and is NULL while it lasts. `until`: its end or, while it lasts, the time until which it
// is known to have lasted. `value`: the worst value so far. `threshold`: the one that raised it.
// `acknowledged_by`: empty if nobody has acknowledged it, or no name was given.
// `incident_picture`: taken after the verdict has been held.
// `maintenance`: a camera that is being worked on; `until` is NULL if a user has to end it.
constexpr char kSchema[] = R"(
CREATE TABLE camera (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT '',
  min_summary_length INTEGER NOT NULL DEFAULT 0,
  summarized_until INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE measurement (
  camera INTEGER NOT NULL REFERENCES camera,
  time INTEGER NOT NULL,
  duration REAL NOT NULL,
  frames INTEGER NOT NULL,
  mean REAL, min_mean REAL, max_mean REAL, stddev REAL,
  p1 REAL, median REAL, p99 REAL,
  clipped_low REAL, clipped_high REAL,
  verdicts TEXT NOT NULL,
  PRIMARY KEY (camera, time)
) STRICT, WITHOUT ROWID;
CREATE TABLE summary (
  camera INTEGER NOT NULL REFERENCES camera,
  length INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  time INTEGER NOT NULL,
  duration REAL NOT NULL,
  frames INTEGER NOT NULL,
  mean REAL, min_mean REAL, max_mean REAL, stddev REAL,
  p1 REAL, median REAL, p99 REAL,
  clipped_low REAL, clipped_high REAL,
  verdicts TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  max_duration REAL NOT NULL,
  PRIMARY KEY (camera, length, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
  number INTEGER PRIMARY KEY,
  camera INTEGER NOT NULL REFERENCES camera,
  time INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  raised INTEGER NOT NULL,
  value REAL
) STRICT;
CREATE INDEX event_time ON event (time);
CREATE INDEX event_camera ON event (camera, time);
CREATE TABLE reference (
  camera INTEGER PRIMARY KEY REFERENCES camera ON DELETE CASCADE,
  source TEXT NOT NULL,
  learned INTEGER NOT NULL,
  scenes BLOB NOT NULL,
  picture BLOB
) STRICT;
CREATE TABLE incident (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  camera INTEGER NOT NULL REFERENCES camera,
  verdict TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  reason TEXT,
  value REAL,
  threshold REAL,
  maintenance INTEGER NOT NULL DEFAULT 0,
  acknowledged INTEGER,
  comment TEXT NOT NULL DEFAULT '',
  acknowledged_by TEXT NOT NULL DEFAULT '',
  UNIQUE (camera, verdict, since)
) STRICT;
CREATE INDEX incident_since ON incident (since);
CREATE INDEX incident_camera ON incident (camera, since);
CREATE INDEX incident_open ON incident (since) WHERE reason IS NULL;
CREATE INDEX incident_closed ON incident (until) WHERE reason IS NOT NULL;
CREATE TABLE incident_picture (
  incident INTEGER PRIMARY KEY REFERENCES incident ON DELETE CASCADE,
  picture BLOB NOT NULL,
  taken INTEGER NOT NULL
) STRICT;
CREATE TABLE maintenance (
  camera INTEGER PRIMARY KEY REFERENCES camera ON DELETE CASCADE,
  since INTEGER NOT NULL,
  until INTEGER,
  comment TEXT NOT NULL
) STRICT;
)";

constexpr int64_t kVersion = 1;
constexpr int64_t kMaxVersion = 1000;  // of any later program; greater numbers mean damage

bool is_empty(Database &database) {
  return database.number("SELECT EXISTS (SELECT 1 FROM sqlite_schema)") == 0 &&
         database.number("PRAGMA user_version") == 0 &&
         database.number("PRAGMA application_id") == 0;
}

void make_schema(Database &database) {
  Transaction transaction(database);
  if (is_empty(database)) {  // asked again: another process may have made it
    database.run(kSchema);
    database.run(("PRAGMA user_version = " + std::to_string(kVersion)).c_str());
    database.run(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
  }
  transaction.commit();
}

/// Returns the length of a camera's shortest row in milliseconds, at most `row`, the length of new
/// rows.
int64_t shortest_row(Database &database, int64_t camera, int64_t row) {
  Statement statement(database,
                      "SELECT time, duration FROM measurement WHERE camera = ?1 ORDER BY time");
  Results rows = statement.with(camera);
  Ascending order(database, row_name(camera), INT64_MIN, INT64_MAX);
  while (rows.next()) {
    order.check(rows.integer(0));
    const double duration = rows.real(1);
    if (duration > 0) row = std::min(row, milliseconds_of(duration));
  }
  return row;
}

/// Returns the cameras whose summaries are too long for rows of the length `row`, and those whose
/// summary state in the file is missing or cannot be right.
std::vector<SummaryState> unsummarized(Database &database, int64_t row) {
  Statement statement(
      database, "SELECT number, min_summary_length, summarized_until FROM camera ORDER BY number");
  Results cameras = statement.with();
  Ascending order(database, "camera", INT64_MIN, INT64_MAX);
  RowWalk rows(database);
  std::vector<SummaryState> found;
  while (cameras.next()) {
    const SummaryState there = {cameras.integer(0), cameras.integer(1), cameras.integer(2)};
    order.check(there.camera);
    const int64_t newest = rows.last(there.camera, kEarliest, kLatest + 1).value_or(0);
    if (is_sound(database, there) && there.min_summary_length != 0 &&
        there.min_summary_length <= min_summary_length_for(row) &&
        begin_of(newest, there.min_summary_length) + there.min_summary_length >= there.until)
      continue;
    const int64_t shortest = shortest_row(database, there.camera, row);
    found.push_back({there.camera, min_summary_length_for(shortest), 0});
  }
  return found;
}

void make_summaries(Database &database, int64_t row) {
  Summaries summaries(database);
  for (SummaryState &camera : unsummarized(database, row)) {
    Transaction transaction(database);
    summaries.make(camera);
    transaction.commit();
  }
}

}  // namespace

void check_schema(Database &database) {
  if (database.number("PRAGMA application_id") != kApplication)
    database.fail_as_damaged("not a history of luminance-monitor");
  const int64_t version = database.number("PRAGMA user_version");
  if (version < 1 || version > kMaxVersion)
    database.fail_as_damaged("schema " + std::to_string(version) + " is out of range");
  if (version > kVersion)
    database.fail("written by a newer version of luminance-monitor (schema " +
                  std::to_string(version) + ", supported up to " + std::to_string(kVersion) + ")");
}

Database open_to_write(const std::string &file, int64_t row) {
  restrict_permissions(file);
  Database database(file, Database::Access::kWrite);
  database.set_busy_timeout(kOpenTimeout);
  const bool fresh = is_empty(database);
  restrict_permissions(file);  // again, in case SQLite created the file
  if (!fresh) check_schema(database);
  // Lets the file shrink. This cannot be changed once the file has contents.
  if (fresh) database.run("PRAGMA auto_vacuum = INCREMENTAL");
  // Readers and the writer do not wait for each other. A commit hands the data to the operating
  // system, so they survive a kill of the process; a power failure can lose the last minutes, but
  // not the file. Waiting for the disk at each commit would hold up the main loop.
  database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  database.run("PRAGMA wal_autocheckpoint = 500; PRAGMA journal_size_limit = 4194304");
  database.run("PRAGMA foreign_keys = ON");
  if (fresh) make_schema(database);
  check_schema(database);
  make_summaries(database, row);
  database.set_busy_timeout(kTimeout);
  return database;
}

}  // namespace luminance
