// SPDX-License-Identifier: LGPL-2.1-or-later
// What the history keeps: a row for each camera and interval, and the verdicts that were raised and
// cleared.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "settings/rules.h"

namespace luminance {

struct Row {
  int64_t time = 0;     // milliseconds since 1970, of its begin
  double duration = 0;  // seconds
  uint64_t frames = 0;
  // NaN where there were no frames. The percentiles of rows that were merged are their means.
  double mean = NAN, least_mean = NAN, greatest_mean = NAN, stddev = NAN;
  double p1 = NAN, median = NAN, p99 = NAN;
  double clipped_low = NAN, clipped_high = NAN;
  std::vector<Verdict> verdicts;  // that stood at some time in it
};

struct Event {
  int64_t time;
  std::string camera;  // id
  Verdict verdict;
  bool raised;
  double value;  // NaN: unknown
};

// Beyond them no clock is right, and arithmetic would have to be careful.
constexpr int64_t kEarliest = 0, kLatest = int64_t{1} << 50;  // milliseconds since 1970

/// The begin of the interval of this length that a time lies in: a multiple of it.
inline int64_t begin_of(int64_t time, int64_t length) {
  return time - (time % length + length) % length;
}

/// Makes one row of two: means and percentiles are weighted by frames, extremes are extremes.
void merge(Row &into, Row other);

/// Of a row, also where the file is damaged: 1 at least.
int64_t milliseconds_of(double seconds);

}  // namespace luminance
