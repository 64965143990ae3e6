// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/export.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <ostream>

#include "history/columns.h"
#include "history/csv.h"
#include "history/damage.h"
#include "history/incidentquery.h"
#include "history/schema.h"

namespace luminance {
namespace {

constexpr int kTimeout = 5000;  // milliseconds to wait for a monitor that is just starting

// Rows read in one transaction. A slow reader of the CSV does not hold a transaction, which would
// keep the write-ahead log from being shortened.
constexpr int64_t kChunk = 1000;

struct Source {
  int64_t number;
  std::string id, name;
  int64_t last;  // time of the last row to export: with later ones, the export might never end
};

std::vector<Source> sources_of(Database &database) {
  Statement statement(database,
                      "SELECT number, id, name, (SELECT max(time) FROM measurement "
                      "WHERE camera = number) FROM camera ORDER BY id");
  Results results = statement.with();
  std::vector<Source> sources;
  while (results.next()) {
    Source source = {results.integer(0), results.text(1), results.text(2), results.integer(3)};
    if (!sources.empty() && source.id <= sources.back().id)
      database.fail("camera " + std::to_string(source.number) +
                    " is out of order; the file is damaged");
    sources.push_back(std::move(source));
  }
  return sources;
}

/// The rows of a camera.
struct Rows {
  explicit Rows(Database &database)
      : next(database,
             "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time / 1000.0, 'unixepoch'), * "
             "FROM measurement WHERE camera = ?1 AND time >= ?2 AND time <= ?3 "
             "ORDER BY time LIMIT ?4"),
        last(database,
             "SELECT time FROM measurement WHERE camera = ?1 AND time >= ?2 AND time <= ?3 "
             "ORDER BY time DESC LIMIT 1") {}

  Statement next, last;
};

/// The next lines of a camera.
struct Chunk {
  std::string lines;
  int64_t rows = 0, last = 0;  // number of rows read, and the time of the last one
};

Chunk chunk_of(Database &database, const Source &camera, Rows &rows, int64_t from) {
  const View view(database);
  Chunk chunk;
  Ascending order(database, row_name(camera.number), from, camera.last);
  {
    Results results = rows.next.with(camera.number, from, camera.last, kChunk);
    for (; results.next(); ++chunk.rows) {
      const Row row = row_of(results, 2);
      order.check(row.time);
      chunk.last = row.time;
      if (is_sound(database, camera.number, row))
        chunk.lines += csv_line(camera.id, camera.name, results.text(0), row);
    }
  }
  if (chunk.rows < kChunk) {
    Results last = rows.last.with(camera.number, from, camera.last);
    order.check_end(last.next() ? std::optional(last.integer(0)) : std::nullopt);
  }
  return chunk;
}

template <class Put>
void export_camera(Database &database, const Source &camera, Rows &rows, const Put &put) {
  int64_t from = std::numeric_limits<int64_t>::min();
  for (;;) {
    const Chunk chunk = chunk_of(database, camera, rows, from);
    put(chunk.lines);
    if (chunk.rows < kChunk || chunk.last >= camera.last) return;
    from = chunk.last + 1;
  }
}

Database open(const std::string &file) {
  Database database(file, Database::Access::kRead);
  database.set_busy_timeout(kTimeout);
  check_schema(database);
  return database;
}

void put(const Database &database, const std::string &text, std::ostream &out) {
  if (!(out << text).flush())
    database.fail(std::string("cannot write CSV: ") + std::strerror(errno));
}

}  // namespace

void export_csv(const std::string &file, std::ostream &out) {
  Database database = open(file);
  const auto put_lines = [&](const std::string &text) { put(database, text, out); };
  put_lines(kCsvHeader);
  Rows rows(database);
  for (const Source &camera : sources_of(database))
    export_camera(database, camera, rows, put_lines);
}

void export_incidents(const std::string &file, std::ostream &out) {
  Database database = open(file);
  put(database, kIncidentCsvHeader, out);
  IncidentFilter filter;
  for (bool has_more = true; has_more;) {
    std::string lines;
    has_more = false;
    each_incident(database, filter, kChunk, [&](const KeptIncident &incident) {
      lines += csv_line(incident, incident.until);
      filter.before = IncidentCursor{incident.since, incident.number};
      has_more = true;
    });
    put(database, lines, out);
  }
}

}  // namespace luminance
