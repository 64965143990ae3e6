// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/row.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace luminance {
namespace {

/// Adds the frames of `other` to `into`. Both must have frames.
void average(Row &into, const Row &other) {
  into.frames += other.frames;
  const double share = static_cast<double>(other.frames) / static_cast<double>(into.frames);
  const double apart = other.mean - into.mean;
  const auto mix = [share](double a, double b) { return a + share * (b - a); };
  into.stddev = std::sqrt(mix(into.stddev * into.stddev, other.stddev * other.stddev) +
                          share * (1 - share) * apart * apart);
  into.mean = mix(into.mean, other.mean);
  into.min_mean = std::min(into.min_mean, other.min_mean);
  into.max_mean = std::max(into.max_mean, other.max_mean);
  into.p1 = mix(into.p1, other.p1);
  into.median = mix(into.median, other.median);
  into.p99 = mix(into.p99, other.p99);
  into.clipped_low = mix(into.clipped_low, other.clipped_low);
  into.clipped_high = mix(into.clipped_high, other.clipped_high);
}

}  // namespace

void merge(Row &into, Row other) {
  const auto end = [](const Row &row) {
    return static_cast<double>(row.time) + row.duration * 1000;
  };
  const int64_t begin = std::min(into.time, other.time);
  const double last = std::max(end(into), end(other));
  std::vector<Verdict> verdicts;
  std::set_union(into.verdicts.begin(), into.verdicts.end(), other.verdicts.begin(),
                 other.verdicts.end(), std::back_inserter(verdicts));
  if (into.frames == 0) std::swap(into, other);
  if (other.frames != 0) average(into, other);
  into.time = begin;
  into.duration = (last - static_cast<double>(begin)) / 1000;
  into.verdicts = std::move(verdicts);
}

int64_t milliseconds_of(double seconds) {
  return seconds > 1e-3 ? std::llround(std::min(seconds, 1e9) * 1000) : 1;
}

}  // namespace luminance
