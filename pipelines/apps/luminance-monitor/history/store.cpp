// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace luminance {
namespace {

constexpr int64_t kApplication = 0x6c756d69;  // "lumi"
constexpr int64_t kVersion = 1;

// Beyond them no clock is right, and arithmetic would have to be careful.
constexpr int64_t kEarliest = 0, kLatest = int64_t{1} << 50;  // milliseconds since 1970

// The main loop waits meanwhile.
constexpr int kPatience = 100, kPatienceAtBegin = 5000;  // milliseconds

// At each write, of each camera, more than come: few enough that a clock that was set ahead by
// mistake for a while does not cost the whole history.
constexpr int64_t kForgottenRows = 60;
constexpr int64_t kForgottenEvents = 1000;

// Rows of a camera lie together, in the order in which they are read.
constexpr char kSchema[] = R"(
CREATE TABLE camera (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL)
  STRICT;
CREATE TABLE interval (
  camera INTEGER NOT NULL REFERENCES camera,
  time INTEGER NOT NULL,
  duration REAL NOT NULL,
  frames INTEGER NOT NULL,
  mean REAL, least_mean REAL, greatest_mean REAL, stddev REAL,
  p1 REAL, median REAL, p99 REAL,
  clipped_low REAL, clipped_high REAL,
  verdicts TEXT NOT NULL,
  PRIMARY KEY (camera, time)
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
)";

bool is_empty(Database &database) {
  return database.number("SELECT count(*) FROM sqlite_schema") == 0 &&
         database.number("PRAGMA user_version") == 0 &&
         database.number("PRAGMA application_id") == 0;
}

void make_schema(Database &database) {
  Transaction transaction(database);
  if (is_empty(database)) {  // still: another process may be as fast
    database.run(kSchema);
    database.run(("PRAGMA user_version = " + std::to_string(kVersion)).c_str());
    database.run(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
  }
  transaction.commit();
}

Database open_to_write(const std::string &file) {
  Database database(file, Database::Access::kWrite);
  database.set_patience(kPatienceAtBegin);
  const bool fresh = is_empty(database);
  if (!fresh) check_schema(database);
  // Pages can be given back. Of a file that holds something, this does not change any more.
  if (fresh) database.run("PRAGMA auto_vacuum = INCREMENTAL");
  // Readers and the writer do not wait for each other. What is committed is with the operating
  // system, which keeps it when the process is killed; only without power the last minutes may be
  // lost, but not the file. Waiting for the disk at each commit would hold up the main loop.
  database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  database.run("PRAGMA wal_autocheckpoint = 500; PRAGMA journal_size_limit = 4194304");
  database.run("PRAGMA foreign_keys = ON");
  if (fresh) make_schema(database);
  check_schema(database);
  database.set_patience(kPatience);
  return database;
}

/// Those that this program knows.
std::vector<Verdict> verdicts_of(std::string_view text) {
  std::vector<Verdict> verdicts;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(' '));
    if (const auto verdict = verdict_named(name)) verdicts.push_back(*verdict);
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  std::sort(verdicts.begin(), verdicts.end());
  return verdicts;
}

/// Of a row, also where the file is damaged.
int64_t milliseconds_of(double seconds) {
  return seconds > 1e-3 ? std::llround(std::min(seconds, 1e9) * 1000) : 1;
}

/// The length of the intervals to merge rows of: so many multiples of `row` that no more than
/// `points` of them lie in first to last. Wherever these lie, the same rows are merged.
int64_t merged_length(int64_t first, int64_t last, int64_t row, size_t points) {
  if (points == 1) return last + 1;
  const auto most = static_cast<int64_t>(points) - 1;
  const int64_t least = (last - first) / most + 1;
  return (least + row - 1) / row * row;
}

/// The frames of both; both have some.
void average(Row &into, const Row &other) {
  into.frames += other.frames;
  const double share = static_cast<double>(other.frames) / static_cast<double>(into.frames);
  const double apart = other.mean - into.mean;
  const auto mix = [share](double a, double b) { return a + share * (b - a); };
  into.stddev = std::sqrt(mix(into.stddev * into.stddev, other.stddev * other.stddev) +
                          share * (1 - share) * apart * apart);
  into.mean = mix(into.mean, other.mean);
  into.least_mean = std::min(into.least_mean, other.least_mean);
  into.greatest_mean = std::max(into.greatest_mean, other.greatest_mean);
  into.p1 = mix(into.p1, other.p1);
  into.median = mix(into.median, other.median);
  into.p99 = mix(into.p99, other.p99);
  into.clipped_low = mix(into.clipped_low, other.clipped_low);
  into.clipped_high = mix(into.clipped_high, other.clipped_high);
}

}  // namespace

void check_schema(Database &database) {
  if (database.number("PRAGMA application_id") != kApplication)
    database.fail("it is not a history of luminance-monitor");
  const int64_t version = database.number("PRAGMA user_version");
  if (version > kVersion)
    database.fail("it was written by a newer version of luminance-monitor (its schema is " +
                  std::to_string(version) + ", the latest that is known here " +
                  std::to_string(kVersion) + ")");
}

std::string text_of(const std::vector<Verdict> &verdicts) {
  std::string text;
  for (const Verdict verdict : verdicts) {
    if (!text.empty()) text += ' ';
    text += name_of(verdict);
  }
  return text;
}

void merge(Row &into, Row other) {
  const auto end = [](const Row &row) {
    return static_cast<double>(row.time) + row.duration * 1000;
  };
  const int64_t begin = std::min(into.time, other.time);
  const double last = std::max(end(into), end(other));
  std::vector<Verdict> verdicts;
  std::set_union(into.verdicts.begin(), into.verdicts.end(), other.verdicts.begin(),
                 other.verdicts.end(), std::back_inserter(verdicts));
  if (into.frames == 0) std::swap(into, other);
  if (other.frames != 0) average(into, other);
  into.time = begin;
  into.duration = (last - static_cast<double>(begin)) / 1000;
  into.verdicts = std::move(verdicts);
}

Row row_of(const Results &results, int first) {
  const auto real = [&](int column) { return results.real(first + column); };
  return {results.integer(first),
          real(1),
          static_cast<uint64_t>(results.integer(first + 2)),
          real(3),
          real(4),
          real(5),
          real(6),
          real(7),
          real(8),
          real(9),
          real(10),
          real(11),
          verdicts_of(results.text(first + 12))};
}

Store::Store(const std::string &file)
    : database_(open_to_write(file)),
      name_camera_(database_,
                   "INSERT INTO camera (id, name) VALUES (?1, ?2) "
                   "ON CONFLICT (id) DO UPDATE SET name = ?2 WHERE name <> ?2"),
      name_gone_(database_,
                 "INSERT INTO camera (id, name) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING"),
      find_row_(database_,
                "SELECT * FROM interval "
                "WHERE camera = (SELECT number FROM camera WHERE id = ?1) AND time = ?2"),
      put_row_(database_,
               "INSERT OR REPLACE INTO interval VALUES ((SELECT number FROM camera WHERE id = ?1), "
               "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"),
      put_event_(database_,
                 "INSERT INTO event (camera, time, verdict, raised, value) "
                 "VALUES ((SELECT number FROM camera WHERE id = ?1), ?2, ?3, ?4, ?5)"),
      cameras_(database_, "SELECT number FROM camera"),
      forget_rows_(database_,
                   "DELETE FROM interval WHERE camera = ?1 AND time <= (SELECT max(time) FROM "
                   "(SELECT time FROM interval WHERE camera = ?1 AND time < ?2 ORDER BY time "
                   "LIMIT ?3))"),
      forget_events_(database_,
                     "DELETE FROM event WHERE number IN "
                     "(SELECT number FROM event WHERE time < ?1 ORDER BY time LIMIT ?2)"),
      forget_cameras_(database_,
                      "DELETE FROM camera WHERE NOT EXISTS "
                      "(SELECT 1 FROM interval WHERE interval.camera = camera.number) AND NOT "
                      "EXISTS (SELECT 1 FROM event WHERE event.camera = camera.number)"),
      extent_(
          database_,
          "SELECT count(*), min(time), max(time), max(duration) FROM interval "
          "WHERE camera = (SELECT number FROM camera WHERE id = ?1) AND time BETWEEN ?2 AND ?3"),
      rows_(database_,
            "SELECT * FROM interval WHERE camera = (SELECT number FROM camera WHERE id = ?1) AND "
            "time BETWEEN ?2 AND ?3 ORDER BY time"),
      events_(database_,
              "SELECT time, id, verdict, raised, value FROM event JOIN camera ON "
              "camera.number = event.camera WHERE time BETWEEN ?1 AND ?2 "
              "ORDER BY time DESC, event.number DESC LIMIT ?3"),
      events_of_camera_(database_,
                        "SELECT time, id, verdict, raised, value FROM event JOIN camera ON "
                        "camera.number = event.camera WHERE time BETWEEN ?1 AND ?2 AND id = ?4 "
                        "ORDER BY time DESC, event.number DESC LIMIT ?3") {}

void Store::write(const Monitor &monitor, const Batch &batch, int64_t oldest) {
  Transaction transaction(database_);
  for (const auto &camera : monitor.cameras()) name_camera_.run(camera->id(), camera->name());
  for (const auto &[id, name] : batch.gone) name_gone_.run(id, name);
  for (const Batch::Entry &entry : batch.rows) write(entry);
  for (const Event &event : batch.events)
    put_event_.run(event.camera, event.time, name_of(event.verdict), int64_t{event.raised},
                   event.value);
  forget(oldest, batch);
  transaction.commit();
}

void Store::write(const Batch::Entry &entry) {
  Row row = entry.row;
  {
    Results there = find_row_.with(entry.camera, row.time);
    if (there.next()) merge(row, row_of(there, 1));
  }
  put_row_.run(entry.camera, row.time, row.duration, static_cast<int64_t>(row.frames), row.mean,
               row.least_mean, row.greatest_mean, row.stddev, row.p1, row.median, row.p99,
               row.clipped_low, row.clipped_high, text_of(row.verdicts));
}

void Store::forget(int64_t oldest, const Batch &written) {
  const auto rows = kForgottenRows + static_cast<int64_t>(written.rows.size());
  const auto events = kForgottenEvents + static_cast<int64_t>(written.events.size());
  {
    Results cameras = cameras_.with();
    while (cameras.next()) forget_rows_.run(cameras.integer(0), oldest, rows);
  }
  forget_events_.run(oldest, events);
  forget_cameras_.run();
  // As many rows come as go, and take their pages; only where many more went the file gets smaller.
  if (database_.number("PRAGMA freelist_count") > database_.number("PRAGMA page_count") / 8)
    database_.run("PRAGMA incremental_vacuum(64)");
}

std::vector<Row> Store::rows(const std::string &camera, int64_t from, int64_t to, size_t points) {
  if (points == 0) return {};
  from = std::max(from, kEarliest);
  to = std::min(to, kLatest);
  int64_t length = 1;
  {
    Results extent = extent_.with(camera, from, to);
    extent.next();
    const auto count = static_cast<size_t>(extent.integer(0));
    if (count > points)
      length = merged_length(extent.integer(1), extent.integer(2), milliseconds_of(extent.real(3)),
                             points);
  }
  std::vector<Row> rows;
  int64_t begin = 0;
  Results results = rows_.with(camera, from, to);
  while (results.next()) {
    Row row = row_of(results, 1);
    const int64_t its = begin_of(row.time, length);
    if (rows.empty() || its != begin)
      rows.push_back(std::move(row));
    else
      merge(rows.back(), std::move(row));
    begin = its;
  }
  return rows;
}

std::vector<Event> Store::events(const std::optional<std::string> &camera, int64_t from, int64_t to,
                                 size_t limit) {
  const auto most = static_cast<int64_t>(limit);
  Results results =
      camera ? events_of_camera_.with(from, to, most, *camera) : events_.with(from, to, most);
  std::vector<Event> events;
  while (results.next())
    if (const auto verdict = verdict_named(results.text(2)))
      events.push_back({results.integer(0), results.text(1), *verdict, results.integer(3) != 0,
                        results.real(4)});
  return events;
}

}  // namespace luminance
