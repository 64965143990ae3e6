// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds and logs faults of the records in a damaged file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "history/database.h"
#include "history/incident.h"
#include "history/row.h"
#include "history/summary.h"

namespace luminance {

/// Logs an error on the standard error output, unless it was logged before. Logs at most 100
/// errors. Any thread may call it.
void log_once(const std::string &text);

/// Names of records in error texts.
std::string row_name(int64_t camera);
std::string summary_name(int64_t camera, int64_t length);

/// Returns what is wrong with a record; empty if nothing is. The numbers of records without fault
/// can be added and subtracted without overflow.
std::string fault_of(const Row &row);
std::string fault_of(const Summary &summary, int64_t length);
std::string fault_of(const SummaryState &state);

/// Returns whether a record has no fault. Otherwise logs the file, the record and the fault; the
/// caller has to leave the record out.
bool is_sound(const Database &database, int64_t camera, const Row &row);
bool is_sound(const Database &database, int64_t camera, const Summary &summary, int64_t length);
bool is_sound(const Database &database, const SummaryState &state);
/// `raised` is the value in the file, which should be 0 or 1.
bool is_sound(const Database &database, int64_t number, const Event &event, int64_t raised);
bool is_sound(const Database &database, int64_t number, const Incident &incident);

/// Thrown if a summary has a fault, which was logged. The caller can read its rows instead.
struct DamagedSummary : HistoryError {
  using HistoryError::HistoryError;
};

/// Checks that the keys of records increase and lie in a range. A loop that reads records in this
/// order reads none of them twice, so the number of records in the file bounds it, even if damaged
/// pages refer to each other in circles.
class Ascending {
 public:
  /// The range is `min` to `max`, inclusive. `record` names the records in error texts.
  Ascending(const Database &database, std::string record, int64_t min, int64_t max)
      : database_(database), record_(std::move(record)), min_(min), max_(max) {}

  /// Throws HistoryError if the key is out of order or out of range.
  void check(int64_t key);
  /// Call it after the loop, with the greatest key that a search finds. Throws HistoryError if that
  /// is not the last key that was checked: a key that is too great ends a loop early.
  void check_end(std::optional<int64_t> greatest) const;

 private:
  [[noreturn]] void fail(int64_t key) const;

  const Database &database_;
  const std::string record_;
  const int64_t min_, max_;
  std::optional<int64_t> last_;  // last key that was checked
};

/// The same for events and incidents, which are read latest first; if times are equal, the greatest
/// number comes first.
class Descending {
 public:
  Descending(const Database &database, std::string record, int64_t min, int64_t max)
      : database_(database), record_(std::move(record)), min_(min), max_(max) {}

  void check(int64_t time, int64_t number);

 private:
  const Database &database_;
  const std::string record_;
  const int64_t min_, max_;
  std::optional<std::pair<int64_t, int64_t>> last_;
};

}  // namespace luminance
