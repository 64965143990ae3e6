// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of the history: how they are merged, and how they are written as SQL's columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "history/database.h"
#include "history/history.h"

namespace luminance {

// Beyond them no clock is right, and arithmetic would have to be careful.
constexpr int64_t kEarliest = 0, kLatest = int64_t{1} << 50;  // milliseconds since 1970

/// The begin of the interval of this length that a time lies in: a multiple of it.
inline int64_t begin_of(int64_t time, int64_t length) {
  return time - (time % length + length) % length;
}

/// Makes one row of two: means and percentiles are weighted by frames, extremes are extremes.
void merge(Row &into, Row other);

/// Names with spaces between them.
std::string text_of(const std::vector<Verdict> &verdicts);

/// Of thirteen columns from `first` on: `time` to `verdicts`, as the table `interval` has them.
Row row_of(const Results &results, int first);

/// Of a row, also where the file is damaged: 1 at least.
int64_t milliseconds_of(double seconds);

}  // namespace luminance
