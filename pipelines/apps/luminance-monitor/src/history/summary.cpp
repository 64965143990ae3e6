// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/summary.h"

#include <algorithm>

#include "history/columns.h"

namespace luminance {

void Summary::add(const Summary &other) {
  merge(row, other.row);
  rows += other.rows;
  max_duration = std::max(max_duration, other.max_duration);
}

Summary summary_of(const Row &row, int64_t length) {
  return {begin_of(row.time, length), row, 1, row.duration};
}

Summary summary_of(const Results &results, int first) {
  return {results.integer(first), row_of(results, first + 1),
          static_cast<uint64_t>(results.integer(first + 14)), results.real(first + 15)};
}

}  // namespace luminance
