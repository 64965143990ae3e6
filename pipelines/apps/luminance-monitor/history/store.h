// SPDX-License-Identifier: LGPL-2.1-or-later
// The history's file: what lies in it, and how that is written and read.
#pragma once

#include <deque>
#include <map>

#include "database.h"
#include "history.h"

namespace luminance {

/// The begin of the interval of this length that a time lies in: a multiple of it.
inline int64_t begin_of(int64_t time, int64_t length) {
  return time - (time % length + length) % length;
}

/// Makes one row of two: means and percentiles are weighted by frames, extremes are extremes.
void merge(Row &into, Row other);

/// Names with spaces between them.
std::string text_of(const std::vector<Verdict> &verdicts);

/// Throws unless it is a history that this program knows.
void check_schema(Database &database);

/// Of `SELECT * FROM interval`, whose columns begin at `first`.
Row row_of(const Results &results, int first);

/// What is to be written.
struct Batch {
  struct Entry {
    std::string camera;  // id
    Row row;
  };
  std::map<std::string, std::string> gone;  // names, by id, of cameras that the monitor has lost
  std::deque<Entry> rows;
  std::deque<Event> events;
};

class Store {
 public:
  /// Opens a history, or begins one.
  explicit Store(const std::string &file);

  /// Writes all of it, or throws and has written nothing. A row whose time is there already, as
  /// after a restart or where the machine's clock was set back, is merged with that. Then forgets
  /// some of what is older than `oldest`: not all at once, which would take long.
  void write(const Monitor &monitor, const Batch &batch, int64_t oldest);
  bool has_moved() { return database_.has_moved(); }

  std::vector<Row> rows(const std::string &camera, int64_t from, int64_t to, size_t points);
  std::vector<Event> events(const std::optional<std::string> &camera, int64_t from, int64_t to,
                            size_t limit);

 private:
  void write(const Batch::Entry &entry);
  void forget(int64_t oldest, const Batch &written);

  Database database_;
  Statement name_camera_, name_gone_, find_row_, put_row_, put_event_;
  Statement cameras_, forget_rows_, forget_events_, forget_cameras_;
  Statement extent_, rows_, events_, events_of_camera_;
};

}  // namespace luminance
