// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of longer intervals, made of the history's own as these are written: what shows a month
// reads as few of them as what shows a day.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "history/database.h"
#include "history/row.h"

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

/// Which summaries of a camera there are.
struct Summed {
  int64_t camera = 0;  // its number
  int64_t finest = kNoSummaries;
  /// All rows before it are in the summaries of each length whose interval ends by then. A multiple
  /// of `finest`.
  int64_t until = 0;
};

/// From `from` until `to`, without gaps, in order: as much as can be in summaries of `length`, the
/// rest in finer ones and in rows, whose length is 0.
void cover(int64_t from, int64_t to, int64_t length, const Summed &there,
           const std::function<void(int64_t length, int64_t from, int64_t to)> &part);

/// Keeps the summaries as the rows are. A summary is written when its time is over, so that most
/// writes are of rows alone; rows that come later than that are added. All of it within the caller's
/// transaction.
class Summaries {
 public:
  explicit Summaries(Database &database);

  /// Sums up what was over when the newest row began.
  void advance(Summed &there, int64_t newest);
  /// Before a row is written that begins before `until`. `first` is the first there is now.
  void make_room(const Summed &there, const Row &row, std::optional<int64_t> first);
  /// After that: a new row, or what one got more of.
  void add(const Summed &there, const Row &row, bool is_new);
  /// Rows before `first` are gone; nothing: all are. What it lies in is summed up with them still,
  /// and is not to be read.
  void forget(const Summed &there, std::optional<int64_t> first);
  /// Makes all summaries of a camera anew.
  void make(Summed &there);

 private:
  void put(int64_t camera, int64_t length, const Summary &summary);
  void sum_up(int64_t camera, int64_t finer, int64_t length, int64_t from, int64_t to);

  Statement find_, put_, forget_, clear_, rows_, last_, parts_, set_;
};

}  // namespace luminance
