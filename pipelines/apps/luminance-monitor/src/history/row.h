// SPDX-License-Identifier: LGPL-2.1-or-later
// The data of the history: rows for each camera and interval, and verdicts raised and cleared.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "settings/rules.h"

namespace luminance {

struct Row {
  int64_t time = 0;     // when it begins, in milliseconds since 1970
  double duration = 0;  // seconds
  uint64_t frames = 0;
  // NaN without frames. The percentiles of merged rows are averaged.
  double mean = NAN, min_mean = NAN, max_mean = NAN, stddev = NAN;
  double p1 = NAN, median = NAN, p99 = NAN;
  double clipped_low = NAN, clipped_high = NAN;
  std::vector<Verdict> verdicts;  // active at any time in the row
};

struct Event {
  int64_t time;
  std::string camera;  // id
  Verdict verdict;
  bool raised;
  double value;  // NaN: unknown
};

// Range of valid times. Correct clocks are in this range, in which arithmetic cannot overflow.
constexpr int64_t kEarliest = 0, kLatest = int64_t{1} << 50;  // milliseconds since 1970

/// Returns the begin of the interval that contains `time`: a multiple of `length`, which must be
/// positive. Returns INT64_MIN if the begin is less than that.
inline int64_t begin_of(int64_t time, int64_t length) {
  int64_t since = time % length, begin = INT64_MIN;
  if (since < 0) since += length;
  return __builtin_sub_overflow(time, since, &begin) ? INT64_MIN : begin;
}

/// Merges two rows: means and percentiles are weighted by frames, minima and maxima are kept.
void merge(Row &into, Row other);

/// Returns the duration of a row in milliseconds, at least 1 even if the file is damaged.
int64_t milliseconds_of(double seconds);

}  // namespace luminance
