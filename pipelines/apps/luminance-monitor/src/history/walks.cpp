// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/walks.h"

#include <string>
#include <utility>

#include "history/columns.h"
#include "history/damage.h"

namespace luminance {
namespace {

Statement times(Database &database, const char *order) {
  const std::string sql =
      "SELECT time FROM measurement WHERE camera = ?1 AND time >= ?2 AND time < ?3 ORDER BY time ";
  return {database, (sql + order + " LIMIT 1").c_str()};
}

}  // namespace

RowWalk::RowWalk(Database &database)
    : database_(database),
      rows_(
          database,
          "SELECT * FROM measurement WHERE camera = ?1 AND time >= ?2 AND time < ?3 ORDER BY time"),
      first_(times(database, "ASC")),
      last_(times(database, "DESC")) {}

void RowWalk::each(int64_t camera, int64_t from, int64_t to, const std::function<void(Row)> &take) {
  if (from >= to) return;
  Ascending order(database_, row_name(camera), from, to - 1);
  {
    Results results = rows_.with(camera, from, to);
    while (results.next()) {
      Row row = row_of(results, 1);
      order.check(row.time);
      if (is_sound(database_, camera, row)) take(std::move(row));
    }
  }
  order.check_end(last(camera, from, to));
}

std::optional<int64_t> RowWalk::time_of(Statement &statement, int64_t camera, int64_t from,
                                        int64_t to) {
  if (from >= to) return {};
  Results found = statement.with(camera, from, to);
  if (!found.next()) return {};
  const int64_t time = found.integer(0);
  Ascending(database_, row_name(camera), from, to - 1).check(time);
  return time;
}

std::optional<int64_t> RowWalk::first(int64_t camera, int64_t from, int64_t to) {
  return time_of(first_, camera, from, to);
}

std::optional<int64_t> RowWalk::last(int64_t camera, int64_t from, int64_t to) {
  return time_of(last_, camera, from, to);
}

SummaryWalk::SummaryWalk(Database &database)
    : database_(database),
      parts_(database,
             "SELECT * FROM summary WHERE camera = ?1 AND length = ?2 AND bucket >= ?3 AND "
             "bucket < ?4 ORDER BY bucket"),
      last_(database,
            "SELECT bucket FROM summary WHERE camera = ?1 AND length = ?2 AND bucket >= ?3 AND "
            "bucket < ?4 ORDER BY bucket DESC LIMIT 1") {}

void SummaryWalk::each(int64_t camera, int64_t length, int64_t from, int64_t to,
                       const std::function<void(Summary)> &take) {
  if (from >= to) return;
  Ascending order(database_, summary_name(camera, length), from, to - 1);
  {
    Results results = parts_.with(camera, length, from, to);
    while (results.next()) {
      Summary summary = summary_of(results, 2);
      order.check(summary.bucket);
      if (!is_sound(database_, camera, summary, length))
        throw DamagedSummary(database_.text_of("a summary is damaged"));
      take(std::move(summary));
    }
  }
  Results found = last_.with(camera, length, from, to);
  order.check_end(found.next() ? std::optional(found.integer(0)) : std::nullopt);
}

}  // namespace luminance
