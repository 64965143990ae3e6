// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

namespace luminance {
namespace {

/// Returns a path that SQLite takes literally: ":memory:" and "file:" have a special meaning to it.
std::string path_of(const std::string &file) { return file[0] == '/' ? file : "./" + file; }

constexpr mode_t kPrivate = S_IRUSR | S_IWUSR;
constexpr int kSteps = 1000;  // of SQLite's virtual machine, between two calls of Watch::look()

// Limits for the number of looks during a statement. A record has at least 16 bytes; reading or
// deleting it takes fewer than 64 steps.
constexpr uint64_t kFreeLooks = 1000, kBytesPerLook = kSteps * 16 / 64;

// Maximum bytes of a text. Without a limit, the file alone determines how long a text is.
constexpr int kMaxLength = 1 << 20;

/// Removes the permissions of others from the file. Ignores the failure if another user owns the
/// file: the owner decides on its permissions.
void take_from_others(const std::string &path) {
  struct stat now = {};
  if (stat(path.c_str(), &now) == 0 && S_ISREG(now.st_mode) && (now.st_mode & ~S_IFMT) != kPrivate)
    chmod(path.c_str(), now.st_mode & kPrivate);
}

constexpr const char *kEndless = "a statement reads more than the file holds; the file is damaged";

/// Whether the error means that the file is damaged or not a history: the statements are constant
/// and correct, so they cannot be the cause.
bool is_of_the_file(int code) {
  switch (code) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // a table or a column is missing
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG: return true;
    default: return false;
  }
}

uint64_t size_of(const std::string &path) {
  struct stat now = {};
  return stat(path.c_str(), &now) == 0 ? static_cast<uint64_t>(now.st_size) : 0;
}

}  // namespace

/// Tells SQLite's progress handler whether to end a statement.
struct Database::Watch {
  /// Returns whether to end the statement, and sets `reason` if so.
  bool look() {
    ++looks;
    if (interrupt != nullptr && interrupt->is_stopped())
      reason = "stopped";
    else if (interrupt != nullptr && interrupt->is_late())
      reason = "a request took too long";
    else if (looks > kFreeLooks && looks > kFreeLooks + bytes() / kBytesPerLook)
      reason = kEndless;
    else
      return false;
    return true;
  }
  uint64_t bytes() const { return size_of(path) + size_of(path + "-wal"); }

  const std::string path;
  const Interrupt *interrupt = nullptr;
  uint64_t looks = 0;            // since the statement began
  const char *reason = nullptr;  // why the statement was ended
};

void Database::Unwatch::operator()(Watch *watch) const { delete watch; }

void restrict_permissions(const std::string &file) {
  // mknod() opens no descriptor: closing one would release all connections' locks on the file.
  mknod(path_of(file).c_str(), S_IFREG | kPrivate, 0);
  for (const char *end : {"", "-wal", "-shm"}) take_from_others(path_of(file) + end);
}

Database::Database(const std::string &file, Access access)
    : file_(file), watch_(new Watch{path_of(file)}) {
  const int flags =
      access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3 *handle = nullptr;
  const int code = sqlite3_open_v2(path_of(file).c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code == SQLITE_OK) {
    harden();
    return;
  }
  // If SQLite cannot open a file for writing, it tries to open it for reading, and reports only why
  // that failed.
  const auto folder = std::filesystem::path(path_of(file)).parent_path();
  std::error_code unknown;
  if (access == Access::kWrite && std::filesystem::is_directory(folder, unknown) &&
      eaccess(folder.c_str(), W_OK | X_OK) != 0)
    fail(std::string("cannot write to its folder: ") + std::strerror(errno));
  fail();
}

void Database::harden() {
  sqlite3 *const handle = handle_.get();
  // A history has no views or triggers. Those in a file from elsewhere could run forever.
  for (const int option : {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                           SQLITE_DBCONFIG_TRUSTED_SCHEMA})
    sqlite3_db_config(handle, option, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxLength);
  const auto look = [](void *watch) -> int { return static_cast<Watch *>(watch)->look(); };
  sqlite3_progress_handler(handle, kSteps, look, watch_.get());
}

void Database::begin() {
  watch_->looks = 0;
  watch_->reason = nullptr;
}

void Database::run(const char *sql) {
  begin();
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

int64_t Database::number(const char *sql) {
  Statement statement(*this, sql);
  Results results = statement.with();
  return results.next() ? results.integer(0) : 0;
}

void Database::set_interrupt(const Interrupt &interrupt) { watch_->interrupt = &interrupt; }

bool Database::has_moved() {
  int moved = 0;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

void Database::fail(const std::string &what) const { throw HistoryError(text_of(what)); }

void Database::fail_as_damaged(const std::string &what) const {
  throw DamagedHistory(text_of(what));
}

void Database::fail() const {
  std::string what = sqlite3_errmsg(handle_.get());
  const int code = sqlite3_errcode(handle_.get()) & 0xff,
            cause = sqlite3_system_errno(handle_.get());
  if (code == SQLITE_INTERRUPT && watch_->reason != nullptr) what = watch_->reason;
  // For other codes, the error number is a leftover from an earlier call.
  if ((code == SQLITE_CANTOPEN || code == SQLITE_IOERR) && cause != 0)
    what += std::string(" (") + std::strerror(cause) + ")";
  const bool is_endless = watch_->reason == kEndless;
  if (is_endless || is_of_the_file(code)) fail_as_damaged(what);
  fail(what);
}

Statement::Statement(Database &database, const char *sql) : database_(database) {
  database.begin();
  sqlite3_stmt *handle = nullptr;
  check(sqlite3_prepare_v3(database.handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle,
                           nullptr));
  handle_.reset(handle);
}

void Statement::bind(int index, std::string_view text) {
  check(sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}

void Statement::bind(int index, const Blob &blob) {
  check(sqlite3_bind_blob64(handle_.get(), index, blob.bytes.data(), blob.bytes.size(),
                            SQLITE_TRANSIENT));
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail();
}

Results::~Results() { sqlite3_reset(statement_.handle_.get()); }

bool Results::next() {
  const int code = sqlite3_step(statement_.handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) statement_.database_.fail();
  return code == SQLITE_ROW;
}

int64_t Results::integer(int column) const {
  sqlite3_stmt *const handle = statement_.handle_.get();
  if (sqlite3_column_type(handle, column) != SQLITE_INTEGER)
    return std::numeric_limits<int64_t>::min();
  return sqlite3_column_int64(handle, column);
}

double Results::real(int column) const {
  sqlite3_stmt *const handle = statement_.handle_.get();
  const int type = sqlite3_column_type(handle, column);
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
    return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(handle, column);
}

std::string Results::text(int column) const {
  const auto *bytes = sqlite3_column_text(statement_.handle_.get(), column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.handle_.get(), column));
  return bytes == nullptr ? std::string()
                          : std::string(reinterpret_cast<const char *>(bytes), size);
}

std::string Results::blob(int column) const {
  sqlite3_stmt *const handle = statement_.handle_.get();
  if (sqlite3_column_type(handle, column) != SQLITE_BLOB) return {};
  const auto *bytes = static_cast<const char *>(sqlite3_column_blob(handle, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle, column));
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

Transaction::Transaction(Database &database) : database_(database) {
  database.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const HistoryError &) {
    // Some failures end the transaction themselves; the statement that failed has thrown an error.
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

View::View(Database &database) : database_(database) { database.run("BEGIN"); }

View::~View() {
  try {
    database_.run("ROLLBACK");
  } catch (const HistoryError &) {
    // The statement that failed has thrown an error.
  }
}

}  // namespace luminance
