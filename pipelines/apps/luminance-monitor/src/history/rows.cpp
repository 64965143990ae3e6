// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace luminance {
namespace {

/// Those that this program knows.
std::vector<Verdict> verdicts_of(std::string_view text) {
  std::vector<Verdict> verdicts;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(' '));
    if (const auto verdict = verdict_named(name)) verdicts.push_back(*verdict);
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  std::sort(verdicts.begin(), verdicts.end());
  return verdicts;
}

/// The frames of both; both have some.
void average(Row &into, const Row &other) {
  into.frames += other.frames;
  const double share = static_cast<double>(other.frames) / static_cast<double>(into.frames);
  const double apart = other.mean - into.mean;
  const auto mix = [share](double a, double b) { return a + share * (b - a); };
  into.stddev = std::sqrt(mix(into.stddev * into.stddev, other.stddev * other.stddev) +
                          share * (1 - share) * apart * apart);
  into.mean = mix(into.mean, other.mean);
  into.least_mean = std::min(into.least_mean, other.least_mean);
  into.greatest_mean = std::max(into.greatest_mean, other.greatest_mean);
  into.p1 = mix(into.p1, other.p1);
  into.median = mix(into.median, other.median);
  into.p99 = mix(into.p99, other.p99);
  into.clipped_low = mix(into.clipped_low, other.clipped_low);
  into.clipped_high = mix(into.clipped_high, other.clipped_high);
}

}  // namespace

std::string text_of(const std::vector<Verdict> &verdicts) {
  std::string text;
  for (const Verdict verdict : verdicts) {
    if (!text.empty()) text += ' ';
    text += name_of(verdict);
  }
  return text;
}

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

Row row_of(const Results &results, int first) {
  const auto real = [&](int column) { return results.real(first + column); };
  return {results.integer(first),
          real(1),
          static_cast<uint64_t>(results.integer(first + 2)),
          real(3),
          real(4),
          real(5),
          real(6),
          real(7),
          real(8),
          real(9),
          real(10),
          real(11),
          verdicts_of(results.text(first + 12))};
}

int64_t milliseconds_of(double seconds) {
  return seconds > 1e-3 ? std::llround(std::min(seconds, 1e9) * 1000) : 1;
}

}  // namespace luminance
