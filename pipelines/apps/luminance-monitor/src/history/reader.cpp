// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/reader.h"

#include <algorithm>
#include <utility>

#include "history/damage.h"
#include "history/schema.h"
#include "history/summaries.h"
#include "history/walks.h"

namespace luminance {
namespace {

constexpr int kTimeout = 1000;  // milliseconds; a file with a write-ahead log rarely blocks readers

// Minimum number of summaries in a merged row. With fewer, rounding up to whole summaries could
// make a row much longer than necessary.
constexpr int64_t kMinParts = 3;

/// The rows from the time `first` to the time `last`. It is empty if `last` is before `first`.
struct Extent {
  int64_t first = 0, last = -1;
  uint64_t rows = 0;
  double max_duration = 0;
};

/// Returns the length of the intervals whose rows are merged: a multiple of the longest row, such
/// that at most `points` intervals lie in the extent. The intervals do not depend on where the
/// extent begins, so the same rows are always merged.
int64_t merged_length(const Extent &extent, size_t points) {
  if (points == 1) return extent.last + 1;
  const int64_t row = milliseconds_of(extent.max_duration);
  const auto intervals = static_cast<int64_t>(points) - 1;
  const int64_t min_length = (extent.last - extent.first) / intervals + 1;
  return (min_length + row - 1) / row * row;
}

/// Returns the length of the longest summaries, at least `min_summary_length`, that make up
/// intervals of `length`; 0 if these are made of rows.
int64_t summary_for(int64_t length, int64_t min_summary_length) {
  int64_t best = 0;
  for (const int64_t candidate : kLengths)
    if (candidate >= min_summary_length && kMinParts * candidate <= length) best = candidate;
  return best;
}

}  // namespace

struct Reader::Connection {
  Connection(const std::string &file, const Interrupt *interrupt);

  SummaryState state_of(Results &known);
  [[noreturn]] void fail_of(const std::string &summaries);
  void check_gap(int64_t camera, int64_t length, int64_t from, int64_t to);
  std::vector<Row> rows(const SummaryState &camera, int64_t from, int64_t to, size_t points);
  Extent extent_of(const SummaryState &camera, int64_t from, int64_t to);
  void each(const SummaryState &camera, const Extent &extent, int64_t length,
            const std::function<void(int64_t time, Summary part)> &take);
  std::vector<Row> rows(const SummaryState &camera, const Extent &extent, size_t points);

  Database database;
  Statement find;
  RowWalk rows_in;
  SummaryWalk parts_in;
  Statement events, events_of_camera;
};

namespace {

Database open_to_read(const std::string &file, const Interrupt *interrupt) {
  Database database(file, Database::Access::kRead);
  database.set_busy_timeout(kTimeout);
  if (interrupt != nullptr) database.set_interrupt(*interrupt);
  check_schema(database);
  return database;
}

}  // namespace

Reader::Connection::Connection(const std::string &file, const Interrupt *interrupt)
    : database(open_to_read(file, interrupt)),
      find(database,
           "SELECT number, min_summary_length, summarized_until FROM camera WHERE id = ?1"),
      rows_in(database),
      parts_in(database),
      events(database,
             "SELECT event.number, time, id, verdict, raised, value FROM event LEFT JOIN camera ON "
             "camera.number = event.camera WHERE time BETWEEN ?1 AND ?2 "
             "ORDER BY time DESC, event.number DESC"),
      events_of_camera(
          database,
          "SELECT event.number, time, id, verdict, raised, value FROM camera JOIN event "
          "ON event.camera = camera.number WHERE time BETWEEN ?1 AND ?2 AND id = ?3 "
          "ORDER BY time DESC, event.number DESC") {}

SummaryState Reader::Connection::state_of(Results &known) {
  SummaryState state = {known.integer(0), known.integer(1), known.integer(2)};
  // Reading rows without summaries is slower, but correct.
  if (!is_sound(database, state) || state.min_summary_length == 0)
    state.min_summary_length = kNoSummaries;
  // Summaries cannot cover a time after the last row.
  state.until =
      std::min(state.until, rows_in.last(state.camera, kEarliest, kLatest + 1).value_or(0));
  return state;
}

/// Fails if there are rows in an interval that has no summaries.
void Reader::Connection::check_gap(int64_t camera, int64_t length, int64_t from, int64_t to) {
  if (const auto row = rows_in.first(camera, from, to))
    fail_of(summary_name(camera, length) + ": missing for the row at " + std::to_string(*row));
}

/// Calls `take` with the rows and the summaries of at most `length` that make up the extent.
void Reader::Connection::each(const SummaryState &there, const Extent &extent, int64_t length,
                              const std::function<void(int64_t, Summary)> &take) {
  const int64_t camera = there.camera;
  cover(extent.first, extent.last + 1, length, there, [&](int64_t of, int64_t from, int64_t to) {
    if (of == 0)
      return rows_in.each(camera, from, to,
                          [&](const Row &row) { take(row.time, summary_of(row, 1)); });
    int64_t next = from;
    parts_in.each(camera, of, from, to, [&](Summary part) {
      const int64_t time = part.bucket;
      check_gap(camera, of, next, time);
      next = time + of;
      take(time, std::move(part));
    });
    check_gap(camera, of, next, to);
  });
}

Extent Reader::Connection::extent_of(const SummaryState &there, int64_t from, int64_t to) {
  const std::optional<int64_t> first = rows_in.first(there.camera, from, to + 1),
                               last = rows_in.last(there.camera, from, to + 1);
  if (first.has_value() != last.has_value() || (first && *first > *last))
    database.fail(row_name(there.camera) + " at " + std::to_string(first ? *first : *last) +
                  " is out of order; the file is damaged");
  if (!first) return {};
  Extent extent = {*first, *last};
  each(there, extent, kLatest, [&](int64_t, const Summary &part) {
    extent.rows += part.rows;
    extent.max_duration = std::max(extent.max_duration, part.max_duration);
  });
  return extent;
}

void Reader::Connection::fail_of(const std::string &summaries) {
  const std::string text =
      database.text_of(summaries + "; the file is damaged; its rows are read instead");
  log_once(text);
  throw DamagedSummary(text);
}

std::vector<Row> Reader::Connection::rows(const SummaryState &there, int64_t from, int64_t to,
                                          size_t points) {
  const Extent extent = extent_of(there, from, to);
  return extent.first > extent.last ? std::vector<Row>() : rows(there, extent, points);
}

std::vector<Row> Reader::Connection::rows(const SummaryState &there, const Extent &extent,
                                          size_t points) {
  int64_t length = extent.rows > points ? merged_length(extent, points) : 1;
  const int64_t part = summary_for(length, there.min_summary_length);
  if (part != 0) length = begin_of(length + part - 1, part);
  std::vector<Row> rows;
  int64_t begin = 0;
  each(there, extent, part, [&](int64_t time, Summary found) {
    const int64_t its = begin_of(time, length);
    if (!rows.empty() && its == begin) return merge(rows.back(), std::move(found.row));
    if (rows.size() == points)
      fail_of("camera " + std::to_string(there.camera) + ": more rows than its summaries say");
    rows.push_back(std::move(found.row));
    begin = its;
  });
  return rows;
}

Reader::Reader(const std::string &file, const Interrupt *interrupt)
    : file_(file), interrupt_(interrupt) {}

Reader::~Reader() = default;

void Reader::close() { connection_.reset(); }

Reader::Connection &Reader::connection() {
  if (connection_ == nullptr || connection_->database.has_moved()) {
    connection_.reset();
    connection_ = std::make_unique<Connection>(file_, interrupt_);
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
    there = open.state_of(known);
  }
  from = std::max(from, kEarliest);
  to = std::min(to, kLatest);
  try {
    return open.rows(there, from, to, points);
  } catch (const DamagedSummary &) {
    there.min_summary_length = kNoSummaries;
    return open.rows(there, from, to, points);
  }
}

std::vector<Event> Reader::events(const std::optional<std::string> &camera, int64_t from,
                                  int64_t to, size_t limit) {
  Connection &open = connection();
  Results results = camera ? open.events_of_camera.with(from, to, std::string_view(*camera))
                           : open.events.with(from, to);
  Descending order(open.database, "event", from, to);
  std::vector<Event> events;
  while (events.size() < limit && results.next()) {
    order.check(results.integer(1), results.integer(0));
    Event event = {
        results.integer(1), results.text(2), {}, results.integer(4) != 0, results.real(5)};
    if (!is_sound(open.database, results.integer(0), event, results.integer(4))) continue;
    if (const auto verdict = verdict_named(results.text(3))) {
      event.verdict = *verdict;
      events.push_back(std::move(event));
    }
  }
  return events;
}

std::vector<KeptIncident> Reader::incidents(const IncidentFilter &filter, size_t limit) {
  std::vector<KeptIncident> incidents;
  each_incident(connection().database, filter, limit,
                [&](KeptIncident incident) { incidents.push_back(std::move(incident)); });
  return incidents;
}

std::optional<KeptIncident> Reader::incident(int64_t number) {
  return incident_in(connection().database, number);
}

std::string Reader::incident_picture(int64_t number) {
  return incident_picture_in(connection().database, number);
}

}  // namespace luminance
