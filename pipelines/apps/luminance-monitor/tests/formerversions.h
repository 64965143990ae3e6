// SPDX-License-Identifier: LGPL-2.1-or-later
// The statements with which earlier versions created the file of a history. Do not change them.
#pragma once

namespace luminance::test {

inline constexpr char kFirstVersion[] = R"(
PRAGMA journal_mode = WAL;
CREATE TABLE camera (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL)
  STRICT;
CREATE TABLE interval (
  camera INTEGER NOT NULL REFERENCES camera, time INTEGER NOT NULL, duration REAL NOT NULL,
  frames INTEGER NOT NULL, mean REAL, least_mean REAL, greatest_mean REAL, stddev REAL, p1 REAL,
  median REAL, p99 REAL, clipped_low REAL, clipped_high REAL, verdicts TEXT NOT NULL,
  PRIMARY KEY (camera, time)) STRICT, WITHOUT ROWID;
CREATE TABLE event (number INTEGER PRIMARY KEY, camera INTEGER NOT NULL REFERENCES camera,
  time INTEGER NOT NULL, verdict TEXT NOT NULL, raised INTEGER NOT NULL, value REAL) STRICT;
CREATE INDEX event_time ON event (time);
CREATE INDEX event_camera ON event (camera, time);
PRAGMA user_version = 1;
PRAGMA application_id = 0x6c756d69;
)";

/// After those of the first version.
inline constexpr char kSecondVersion[] = R"(
ALTER TABLE camera ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE camera ADD COLUMN finest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE camera ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;
CREATE TABLE summary (
  camera INTEGER NOT NULL REFERENCES camera, length INTEGER NOT NULL, bucket INTEGER NOT NULL,
  time INTEGER NOT NULL, duration REAL NOT NULL, frames INTEGER NOT NULL, mean REAL,
  least_mean REAL, greatest_mean REAL, stddev REAL, p1 REAL, median REAL, p99 REAL,
  clipped_low REAL, clipped_high REAL, verdicts TEXT NOT NULL, rows INTEGER NOT NULL,
  longest REAL NOT NULL, PRIMARY KEY (camera, length, bucket)) STRICT, WITHOUT ROWID;
PRAGMA user_version = 2;
)";

/// After those of the second version.
inline constexpr char kThirdVersion[] = R"(
ALTER TABLE interval RENAME TO measurement;
ALTER TABLE measurement RENAME COLUMN least_mean TO min_mean;
ALTER TABLE measurement RENAME COLUMN greatest_mean TO max_mean;
ALTER TABLE camera RENAME COLUMN finest TO min_summary_length;
ALTER TABLE camera RENAME COLUMN summed TO summarized_until;
ALTER TABLE summary RENAME COLUMN least_mean TO min_mean;
ALTER TABLE summary RENAME COLUMN greatest_mean TO max_mean;
ALTER TABLE summary RENAME COLUMN rows TO row_count;
ALTER TABLE summary RENAME COLUMN longest TO max_duration;
PRAGMA user_version = 3;
)";

/// After those of the third version.
inline constexpr char kFourthVersion[] = R"(
CREATE TABLE reference (
  camera INTEGER PRIMARY KEY REFERENCES camera ON DELETE CASCADE, source TEXT NOT NULL,
  learned INTEGER NOT NULL, scenes BLOB NOT NULL, picture BLOB) STRICT;
PRAGMA user_version = 4;
)";

/// After those of the fourth version.
inline constexpr char kFifthVersion[] = R"(
CREATE TABLE incident (
  number INTEGER PRIMARY KEY AUTOINCREMENT, camera INTEGER NOT NULL REFERENCES camera,
  verdict TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, reason TEXT, value REAL,
  threshold REAL, maintenance INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER,
  comment TEXT NOT NULL DEFAULT '', UNIQUE (camera, verdict, since)) STRICT;
CREATE INDEX incident_since ON incident (since);
CREATE INDEX incident_camera ON incident (camera, since);
CREATE INDEX incident_open ON incident (since) WHERE reason IS NULL;
CREATE INDEX incident_closed ON incident (until) WHERE reason IS NOT NULL;
CREATE TABLE incident_picture (
  incident INTEGER PRIMARY KEY REFERENCES incident ON DELETE CASCADE, picture BLOB NOT NULL) STRICT;
CREATE TABLE maintenance (
  camera INTEGER PRIMARY KEY REFERENCES camera ON DELETE CASCADE, since INTEGER NOT NULL,
  until INTEGER, comment TEXT NOT NULL) STRICT;
PRAGMA user_version = 5;
)";

/// After those of the fifth version.
inline constexpr char kSixthVersion[] = R"(
ALTER TABLE incident_picture ADD COLUMN taken INTEGER;
PRAGMA user_version = 6;
)";

}  // namespace luminance::test
