// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of longer intervals, made of the history's own as these are written: what shows a month
// reads as few of them as what shows a day.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "rows.h"

namespace luminance {

/// The lengths of summaries, in milliseconds. Each is a multiple of the one before.
constexpr int64_t kLengths[] = {10'000,    30'000,    120'000,    600'000,
                                1'800'000, 7'200'000, 21'600'000, 86'400'000};
/// The finest of a camera that has none: its rows are as long as the longest.
constexpr int64_t kNoSummaries = INT64_MAX;

/// The shortest length that saves something where rows are this long.
int64_t finest_for(int64_t row);

/// Several rows that are read as one.
struct Summary {
  int64_t bucket = 0;  // the multiple of its length that it begins at; its first row may be later
  Row row;             // all of them, merged
  uint64_t rows = 0;   // how many they are
  double longest = 0;  // the duration of the longest of them

  void add(const Summary &other);
};

/// A summary of a row alone.
Summary summary_of(const Row &row, int64_t length);

/// Of the table `summary`: `bucket` and all columns after it, from `first` on.
Summary summary_of(const Results &results, int first);

/// From `from` until `to`, without gaps, in order: as much as can be in summaries of `length`, the
/// rest in finer ones, down to `finest`, and in rows, whose length is 0.
void cover(int64_t from, int64_t to, int64_t length, int64_t finest,
           const std::function<void(int64_t length, int64_t from, int64_t to)> &part);

/// Keeps the summaries as the rows are. All of it within the caller's transaction.
class Summaries {
 public:
  explicit Summaries(Database &database);

  /// What was written to the table `interval`: a new row, or what one got more of.
  void add(int64_t camera, int64_t finest, const Row &row, bool is_new);
  /// Rows before `first` are gone; nothing: all are.
  void forget(int64_t camera, int64_t finest, std::optional<int64_t> first);
  /// Makes all summaries of a camera anew.
  void make(int64_t camera, int64_t finest);

 private:
  class Pyramid;

  void put(int64_t camera, int64_t length, const Summary &summary);
  void renew(int64_t camera, int64_t finest, int64_t first);

  Statement find_, put_, forget_, clear_, rows_, parts_;
};

}  // namespace luminance
