// SPDX-License-Identifier: LGPL-2.1-or-later
// What is wrong with records of a damaged file.
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

/// Logs an error on the standard error output, unless it was logged before. After a hundred, there
/// are no more. Any thread.
void log_once(const std::string &text);

/// Records, for the text of errors.
std::string row_name(int64_t camera);
std::string summary_name(int64_t camera, int64_t length);

/// What is wrong with it; empty: nothing. Numbers of those without fault can be added and
/// subtracted without overflow.
std::string fault_of(const Row &row);
std::string fault_of(const Summary &summary, int64_t length);
std::string fault_of(const SummaryState &state);

/// Whether a record has no fault. Otherwise logs the fault, with the file and the record, which is
/// left out.
bool is_sound(const Database &database, int64_t camera, const Row &row);
bool is_sound(const Database &database, int64_t camera, const Summary &summary, int64_t length);
bool is_sound(const Database &database, const SummaryState &state);
/// `raised`: what the file says, 0 or 1.
bool is_sound(const Database &database, int64_t number, const Event &event, int64_t raised);
bool is_sound(const Database &database, int64_t number, const Incident &incident);

/// A summary has a fault, which was logged. Its rows can be read instead.
struct DamagedSummary : HistoryError {
  using HistoryError::HistoryError;
};

/// Checks that the keys of records increase and lie in a range. Whoever reads records in this order
/// reads none of them twice, so that the number of records in the file bounds the loop, however
/// its pages refer to each other.
class Ascending {
 public:
  /// From `min` to `max`. `record` is for the text of errors.
  Ascending(const Database &database, std::string record, int64_t min, int64_t max)
      : database_(database), record_(std::move(record)), min_(min), max_(max) {}

  /// Throws HistoryError for a key that is out of order.
  void check(int64_t key);
  /// Call at the end, with the greatest key that a search finds. Throws HistoryError if it was not
  /// the last one to be checked: a key that is too great ends a loop early.
  void check_end(std::optional<int64_t> greatest) const;

 private:
  [[noreturn]] void fail(int64_t key) const;

  const Database &database_;
  const std::string record_;
  const int64_t min_, max_;
  std::optional<int64_t> last_;  // that was checked
};

/// The same for events and incidents, the latest first; of the same time, that with the greatest
/// number.
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
