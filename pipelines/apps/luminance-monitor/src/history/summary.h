// SPDX-License-Identifier: LGPL-2.1-or-later
// Summaries of several rows, and which summaries exist.
#pragma once

#include <cstdint>

#include "history/database.h"
#include "history/row.h"

namespace luminance {

/// The lengths of summaries, in milliseconds. Each is a multiple of the previous one.
constexpr int64_t kLengths[] = {10'000,    30'000,    120'000,    600'000,
                                1'800'000, 7'200'000, 21'600'000, 86'400'000};
/// `min_summary_length` of a camera without summaries, because its rows are too long for them.
constexpr int64_t kNoSummaries = INT64_MAX;

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

}  // namespace luminance
