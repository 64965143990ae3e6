// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/reader.h"

#include <algorithm>
#include <utility>

#include "history/columns.h"
#include "history/schema.h"
#include "history/summaries.h"

namespace luminance {
namespace {

constexpr int kTimeout =
    1000;  // milliseconds; a file of this kind is hardly ever locked to readers

// A merged row is of so many summaries at least: of fewer, it could be much longer than need be.
constexpr int64_t kMinParts = 3;

/// What lies between two times.
struct Extent {
  int64_t first = 0, last = -1;
  uint64_t rows = 0;
  double max_duration = 0;
};

/// The length of the intervals to merge rows of: so many multiples of `row` that no more than
/// `points` of them lie in first to last. Wherever these lie, the same rows are merged.
int64_t merged_length(const Extent &extent, size_t points) {
  if (points == 1) return extent.last + 1;
  const int64_t row = milliseconds_of(extent.max_duration);
  const auto intervals = static_cast<int64_t>(points) - 1;
  const int64_t min_length = (extent.last - extent.first) / intervals + 1;
  return (min_length + row - 1) / row * row;
}

/// The length of the longest summaries, at least `min_summary_length`, that make up intervals of
/// `length`; 0: rows.
int64_t summary_for(int64_t length, int64_t min_summary_length) {
  int64_t best = 0;
  for (const int64_t candidate : kLengths)
    if (candidate >= min_summary_length && kMinParts * candidate <= length) best = candidate;
  return best;
}

}  // namespace

struct Reader::Connection {
  Connection(const std::string &file, const std::atomic<bool> *stop);

  Extent extent_of(const SummaryState &camera, int64_t from, int64_t to);
  std::vector<Row> rows(const SummaryState &camera, const Extent &extent, size_t points);

  Database database;
  Statement find, first, last, count, count_parts, rows_in, parts_in;
  Statement events, events_of_camera;
};

namespace {

Database open_to_read(const std::string &file, const std::atomic<bool> *stop) {
  Database database(file, Database::Access::kRead);
  database.set_busy_timeout(kTimeout);
  if (stop != nullptr) database.set_interrupt(*stop);
  check_current_schema(database);
  return database;
}

}  // namespace

Reader::Connection::Connection(const std::string &file, const std::atomic<bool> *stop)
    : database(open_to_read(file, stop)),
      find(database,
           "SELECT number, min_summary_length, summarized_until FROM camera WHERE id = ?1"),
      first(database,
            "SELECT time FROM measurement WHERE camera = ?1 AND time BETWEEN ?2 AND ?3 "
            "ORDER BY time LIMIT 1"),
      last(database,
           "SELECT time FROM measurement WHERE camera = ?1 AND time BETWEEN ?2 AND ?3 "
           "ORDER BY time DESC LIMIT 1"),
      count(database,
            "SELECT count(*), max(duration) FROM measurement WHERE camera = ?1 AND time >= ?2 AND "
            "time < ?3"),
      count_parts(
          database,
          "SELECT sum(row_count), max(max_duration) FROM summary WHERE camera = ?1 AND length = ?2 "
          "AND bucket >= ?3 AND bucket < ?4"),
      rows_in(database,
              "SELECT * FROM measurement WHERE camera = ?1 AND time >= ?2 AND time < ?3 "
              "ORDER BY time"),
      parts_in(database,
               "SELECT * FROM summary WHERE camera = ?1 AND length = ?2 AND bucket >= ?3 AND "
               "bucket < ?4 ORDER BY bucket"),
      events(database,
             "SELECT time, id, verdict, raised, value FROM event JOIN camera ON "
             "camera.number = event.camera WHERE time BETWEEN ?1 AND ?2 "
             "ORDER BY time DESC, event.number DESC LIMIT ?3"),
      events_of_camera(database,
                       "SELECT time, id, verdict, raised, value FROM event JOIN camera ON "
                       "camera.number = event.camera WHERE time BETWEEN ?1 AND ?2 AND id = ?4 "
                       "ORDER BY time DESC, event.number DESC LIMIT ?3") {}

Extent Reader::Connection::extent_of(const SummaryState &there, int64_t from, int64_t to) {
  const int64_t camera = there.camera;
  Extent extent;
  for (auto [statement, time] :
       {std::pair(&first, &extent.first), std::pair(&last, &extent.last)}) {
    Results found = statement->with(camera, from, to);
    if (!found.next()) return {};
    *time = found.integer(0);
  }
  const auto add = [&](int64_t length, int64_t begin, int64_t end) {
    Results counted =
        length == 0 ? count.with(camera, begin, end) : count_parts.with(camera, length, begin, end);
    counted.next();
    extent.rows += static_cast<uint64_t>(counted.integer(0));
    extent.max_duration = std::fmax(extent.max_duration, counted.real(1));
  };
  cover(extent.first, extent.last + 1, kLatest, there, add);
  return extent;
}

std::vector<Row> Reader::Connection::rows(const SummaryState &there, const Extent &extent,
                                          size_t points) {
  const int64_t camera = there.camera;
  int64_t length = extent.rows > points ? merged_length(extent, points) : 1;
  const int64_t part = summary_for(length, there.min_summary_length);
  if (part != 0) length = begin_of(length + part - 1, part);
  std::vector<Row> rows;
  int64_t begin = 0;
  const auto add = [&](int64_t time, Row row) {
    const int64_t its = begin_of(time, length);
    if (rows.empty() || its != begin)
      rows.push_back(std::move(row));
    else
      merge(rows.back(), std::move(row));
    begin = its;
  };
  cover(extent.first, extent.last + 1, part, there, [&](int64_t of, int64_t from, int64_t to) {
    Results found = of == 0 ? rows_in.with(camera, from, to) : parts_in.with(camera, of, from, to);
    while (found.next()) {
      Row row = row_of(found, of == 0 ? 1 : 3);
      add(of == 0 ? row.time : found.integer(2), std::move(row));
    }
  });
  return rows;
}

Reader::Reader(const std::string &file, const std::atomic<bool> *stop) : file_(file), stop_(stop) {}

Reader::~Reader() = default;

void Reader::close() { connection_.reset(); }

Reader::Connection &Reader::connection() {
  if (connection_ == nullptr || connection_->database.has_moved()) {
    connection_.reset();
    connection_ = std::make_unique<Connection>(file_, stop_);
  }
  return *connection_;
}

std::vector<Row> Reader::rows(const std::string &camera, int64_t from, int64_t to, size_t points) {
  if (points == 0) return {};
  Connection &open = connection();
  const View view(open.database);
  SummaryState there;
  {
    Results known = open.find.with(camera);
    if (!known.next()) return {};
    there = {known.integer(0), known.integer(1), known.integer(2)};
  }
  if (there.min_summary_length <= 0) there.min_summary_length = kNoSummaries;
  const Extent extent = open.extent_of(there, std::max(from, kEarliest), std::min(to, kLatest));
  return extent.rows == 0 ? std::vector<Row>() : open.rows(there, extent, points);
}

std::vector<Event> Reader::events(const std::optional<std::string> &camera, int64_t from,
                                  int64_t to, size_t limit) {
  Connection &open = connection();
  const auto max_events = static_cast<int64_t>(limit);
  Results results = camera ? open.events_of_camera.with(from, to, max_events, *camera)
                           : open.events.with(from, to, max_events);
  std::vector<Event> events;
  while (results.next())
    if (const auto verdict = verdict_named(results.text(2)))
      events.push_back({results.integer(0), results.text(1), *verdict, results.integer(3) != 0,
                        results.real(4)});
  return events;
}

}  // namespace luminance
