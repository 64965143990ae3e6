// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of longer intervals, computed while rows are written, so that a query for a month reads no
// more of them than a query for a day.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "history/database.h"
#include "history/row.h"
#include "history/summary.h"
#include "history/walks.h"

namespace luminance {

/// The shortest useful length of summaries for rows of this length.
int64_t min_summary_length_for(int64_t row);

/// Divides `from` to `to`, which lie in kEarliest to kLatest + 1, into parts, in order and without
/// gaps: summaries of `length` where possible, otherwise shorter ones, or rows, whose length is 0.
void cover(int64_t from, int64_t to, int64_t length, const SummaryState &there,
           const std::function<void(int64_t length, int64_t from, int64_t to)> &part);

/// Keeps the summaries consistent with the rows. A summary is written when its interval is over, so
/// that most writes concern rows only; later rows are added to it. Runs in the transaction of the
/// caller.
class Summaries {
 public:
  explicit Summaries(Database &database);

  /// Writes the summaries whose intervals were over when the newest row began.
  void advance(SummaryState &there, int64_t newest);
  /// Recomputes the summaries that contain the first row, without the rows deleted since. Call it
  /// before writing a row that begins before `until`. `first` is the time of the first row.
  void refresh_first_summary(const SummaryState &there, const Row &row,
                             std::optional<int64_t> first);
  /// Adds a new row, or an addition to an existing one, to the summaries. Call it after
  /// refresh_first_summary().
  void add(const SummaryState &there, const Row &row, bool is_new);
  /// Deletes the summaries of deleted rows: of those before `first`, or of all rows if it is not
  /// set. The summary that contains `first` still includes deleted rows and must not be read.
  void delete_before(int64_t camera, std::optional<int64_t> first);
  /// Recomputes all summaries of a camera.
  void make(SummaryState &there);

 private:
  std::optional<Summary> find(int64_t camera, int64_t length, int64_t bucket, bool &is_damaged);
  void put(int64_t camera, int64_t length, const Summary &summary);
  void summarize(int64_t camera, int64_t finer, int64_t length, int64_t from, int64_t to);

  Database &database_;
  RowWalk rows_;
  SummaryWalk parts_;
  Statement find_, put_, delete_, clear_, set_;
};

}  // namespace luminance
