// SPDX-License-Identifier: LGPL-2.1-or-later
// SQLite with RAII. Failures throw HistoryError with the name of the file.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "history/error.h"
#include "history/interrupt.h"

namespace luminance {

/// Creates the file of a history if it is missing, readable by its owner only; removes the
/// permissions of others from an existing one. Files that SQLite creates beside it get the same
/// permissions.
void restrict_permissions(const std::string &file);

/// A connection to a database file. A statement fails with HistoryError if it takes more steps than
/// reading every record of a file of this size: it would read records of a damaged file repeatedly.
class Database {
 public:
  enum class Access { kRead, kWrite };

  /// Opens the file. Creates a missing file if `access` is kWrite.
  Database(const std::string &file, Access access);

  /// Runs statements without parameters or results.
  void run(const char *sql);
  /// Returns the first column of the first row; 0 if there is no row.
  int64_t number(const char *sql);
  /// Sets how long statements wait while another process writes.
  void set_busy_timeout(int milliseconds) { sqlite3_busy_timeout(handle_.get(), milliseconds); }
  /// Makes statements fail with HistoryError soon after `interrupt` is due. It must outlive the
  /// database.
  void set_interrupt(const Interrupt &interrupt);
  /// Number of rows that the last statement changed.
  int changes() const { return sqlite3_changes(handle_.get()); }
  /// Whether the file was deleted or moved since it was opened, so that writes would be lost.
  bool has_moved();
  /// Returns an error text with the name of the file and `what` is wrong with it.
  std::string text_of(const std::string &what) const { return "history " + file_ + ": " + what; }
  [[noreturn]] void fail(const std::string &what) const;
  /// Throws DamagedHistory.
  [[noreturn]] void fail_as_damaged(const std::string &what) const;
  /// Throws the latest error of SQLite, as DamagedHistory if the file is to blame.
  [[noreturn]] void fail() const;

 private:
  friend class Statement;
  struct Watch;
  struct Unwatch {
    void operator()(Watch *watch) const;
  };
  struct Close {
    void operator()(sqlite3 *handle) const { sqlite3_close(handle); }
  };

  void harden();
  /// Starts counting steps anew. Call it when a statement begins.
  void begin();

  const std::string file_;
  std::unique_ptr<Watch, Unwatch> watch_;  // outlives the handle, which has its address
  std::unique_ptr<sqlite3, Close> handle_;
};

class Statement;

/// Bytes for a parameter of a statement.
struct Blob {
  std::string_view bytes;
};

/// The results of a statement. They keep a snapshot of the database until they are destroyed;
/// destroy them soon, because the write-ahead log grows meanwhile.
class Results {
 public:
  ~Results();
  Results(const Results &) = delete;
  Results &operator=(const Results &) = delete;

  /// Advances to the next row; false if there is none.
  bool next();
  /// Returns INT64_MIN if the value is not an integer, as in a damaged file.
  int64_t integer(int column) const;
  /// Returns NaN if the value is NULL or not a number.
  double real(int column) const;
  /// Returns the bytes of a text, which may be invalid UTF-8.
  std::string text(int column) const;
  /// Returns an empty string if the value is not a blob.
  std::string blob(int column) const;

 private:
  friend class Statement;
  explicit Results(Statement &statement) : statement_(statement) {}

  Statement &statement_;
};

class Statement {
 public:
  Statement(Database &database, const char *sql);

  /// Returns the results for these parameters. Only one set of results may exist at a time.
  template <class... Values>
  Results with(const Values &...values) {
    database_.begin();
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
  void bind(int index, const Blob &blob);
  void check(int code) const;

  Database &database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// Groups statements: all of them take effect on commit(), and none without it.
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

/// Keeps a snapshot of the database while it exists.
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
