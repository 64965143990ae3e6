// SPDX-License-Identifier: LGPL-2.1-or-later
// SQLite: what was opened is closed, and what fails throws HistoryError with the file's name.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "history/error.h"

namespace luminance {

/// Makes a history's file, where there is none, that only its owner may read; takes that right from
/// others where there is one. What SQLite puts beside it has the same rights.
void keep_private(const std::string &file);

class Database {
 public:
  enum class Access { kRead, kWrite };

  /// For writing, a file that is not there is begun.
  Database(const std::string &file, Access access);

  /// Statements without parameters or results.
  void run(const char *sql);
  /// The first column of the first row.
  int64_t number(const char *sql);
  /// How long to wait where another process writes.
  void set_patience(int milliseconds) { sqlite3_busy_timeout(handle_.get(), milliseconds); }
  /// What runs ends with HistoryError soon after this is true. It outlives the database.
  void stop_by(const std::atomic<bool> &stop);
  /// Rows that the last statement changed.
  int changes() const { return sqlite3_changes(handle_.get()); }
  /// Whether the file was deleted or moved away since it was opened: what is written then is lost.
  bool has_moved();
  [[noreturn]] void fail(const std::string &what) const;
  [[noreturn]] void fail() const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3 *handle) const { sqlite3_close(handle); }
  };

  const std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

class Statement;

/// The results of a statement. What is read of the database stays as it is until they go: they do
/// so soon, or the write-ahead log grows.
class Results {
 public:
  ~Results();
  Results(const Results &) = delete;
  Results &operator=(const Results &) = delete;

  /// Whether there is another row.
  bool next();
  int64_t integer(int column) const;
  /// NaN where there is none.
  double real(int column) const;
  /// Bytes, which need not be UTF-8.
  std::string text(int column) const;

 private:
  friend class Statement;
  explicit Results(Statement &statement) : statement_(statement) {}

  Statement &statement_;
};

class Statement {
 public:
  Statement(Database &database, const char *sql);

  /// Its results with these parameters, one at a time.
  template <class... Values>
  Results with(const Values &...values) {
    int index = 0;
    (bind(++index, values), ...);
    return Results(*this);
  }

  template <class... Values>
  void run(const Values &...values) {
    Results results = with(values...);
    while (results.next()) {
    }
  }

 private:
  friend class Results;
  struct Finalize {
    void operator()(sqlite3_stmt *handle) const { sqlite3_finalize(handle); }
  };

  void bind(int index, int64_t value) { check(sqlite3_bind_int64(handle_.get(), index, value)); }
  void bind(int index, double value) { check(sqlite3_bind_double(handle_.get(), index, value)); }
  void bind(int index, std::string_view text);
  void check(int code) const;

  Database &database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// All of what is done while it lives, or nothing where it is not committed.
class Transaction {
 public:
  explicit Transaction(Database &database);
  ~Transaction();
  Transaction(const Transaction &) = delete;
  Transaction &operator=(const Transaction &) = delete;

  void commit();

 private:
  Database &database_;
  bool open_ = true;
};

/// While it lives, the database is read as it is now.
class View {
 public:
  explicit View(Database &database);
  ~View();
  View(const View &) = delete;
  View &operator=(const View &) = delete;

 private:
  Database &database_;
};

}  // namespace luminance
