// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of longer intervals, computed while rows are written, so that a query for a month reads no
// more of them than a query for a day.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "history/database.h"
#include "history/row.h"

namespace luminance {

/// The lengths of summaries, in milliseconds. Each is a multiple of the previous one.
constexpr int64_t kLengths[] = {10'000,    30'000,    120'000,    600'000,
                                1'800'000, 7'200'000, 21'600'000, 86'400'000};
/// `min_summary_length` of a camera without summaries: its rows are as long as the longest of them.
constexpr int64_t kNoSummaries = INT64_MAX;

/// The shortest useful length of summaries for rows of this length.
int64_t min_summary_length_for(int64_t row);

/// Several rows, merged.
struct Summary {
  int64_t bucket = 0;       // its begin, a multiple of its length; the first row may be later
  Row row;                  // all rows, merged
  uint64_t rows = 0;        // number of rows
  double max_duration = 0;  // duration of the longest row

  void add(const Summary &other);
};

/// A summary of a single row.
Summary summary_of(const Row &row, int64_t length);

/// Reads `bucket` and all columns after it of the table `summary`, from `first` on.
Summary summary_of(const Results &results, int first);

/// The summaries that exist for a camera.
struct SummaryState {
  int64_t camera = 0;  // its number in the database
  int64_t min_summary_length = kNoSummaries;
  /// The time until which summaries are complete: those of every length that end by then exist. A
  /// multiple of `min_summary_length`.
  int64_t until = 0;
};

/// Divides `from` to `to` into parts, in order and without gaps: summaries of `length` where
/// possible, otherwise shorter ones, and rows, whose length is 0.
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
  /// Call after that, with a new row or with the addition to an existing one.
  void add(const SummaryState &there, const Row &row, bool is_new);
  /// Rows before `first` were deleted, or all rows without it. The summary that contains `first`
  /// still includes deleted rows and must not be read.
  void delete_before(const SummaryState &there, std::optional<int64_t> first);
  /// Recomputes all summaries of a camera.
  void make(SummaryState &there);

 private:
  void put(int64_t camera, int64_t length, const Summary &summary);
  void summarize(int64_t camera, int64_t finer, int64_t length, int64_t from, int64_t to);

  Statement find_, put_, delete_, clear_, rows_, last_, parts_, set_;
};

}  // namespace luminance
