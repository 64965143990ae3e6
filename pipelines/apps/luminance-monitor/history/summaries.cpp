// SPDX-License-Identifier: LGPL-2.1-or-later
#include "summaries.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace luminance {
namespace {

// A summary of fewer rows costs more than it saves.
constexpr int64_t kLeastRows = 4;

}  // namespace

int64_t finest_for(int64_t row) {
  const auto *found = std::find_if(std::begin(kLengths), std::end(kLengths),
                                   [row](int64_t length) { return length >= kLeastRows * row; });
  return found != std::end(kLengths) ? *found : kNoSummaries;
}

void Summary::add(const Summary &other) {
  merge(row, other.row);
  rows += other.rows;
  longest = std::max(longest, other.longest);
}

Summary summary_of(const Row &row, int64_t length) {
  return {begin_of(row.time, length), row, 1, row.duration};
}

Summary summary_of(const Results &results, int first) {
  return {results.integer(first), row_of(results, first + 1),
          static_cast<uint64_t>(results.integer(first + 14)), results.real(first + 15)};
}

void cover(int64_t from, int64_t to, int64_t length, int64_t finest,
           const std::function<void(int64_t, int64_t, int64_t)> &part) {
  if (from >= to) return;
  const auto *const end = std::upper_bound(std::begin(kLengths), std::end(kLengths), length);
  if (end == std::begin(kLengths) || *std::prev(end) < finest) return part(0, from, to);
  const int64_t whole = *std::prev(end);
  const int64_t first = begin_of(from + whole - 1, whole), last = begin_of(to, whole);
  if (first >= last) return cover(from, to, whole - 1, finest, part);
  cover(from, first, whole - 1, finest, part);
  part(whole, first, last);
  cover(last, to, whole - 1, finest, part);
}

/// Sums up what comes in the order of time: rows to the finest summaries, these to the next.
class Summaries::Pyramid {
 public:
  using Put = std::function<void(int64_t length, const Summary &summary)>;

  Pyramid(int64_t finest, Put put)
      : first_(std::lower_bound(std::begin(kLengths), std::end(kLengths), finest)),
        put_(std::move(put)) {}

  void add(const Row &row) {
    if (first_ != std::end(kLengths)) add(first_, summary_of(row, *first_));
  }

  void finish() {
    for (const auto *length = first_; length != std::end(kLengths); ++length) close(length);
  }

 private:
  void add(const int64_t *length, Summary summary) {
    if (length == std::end(kLengths)) return;
    summary.bucket = begin_of(summary.bucket, *length);
    std::optional<Summary> &open = open_[length - std::begin(kLengths)];
    if (open && open->bucket != summary.bucket) close(length);
    if (open)
      open->add(summary);
    else
      open = std::move(summary);
  }

  void close(const int64_t *length) {
    std::optional<Summary> &open = open_[length - std::begin(kLengths)];
    if (!open) return;
    put_(*length, *open);
    add(length + 1, *std::exchange(open, std::nullopt));
  }

  const int64_t *const first_;
  const Put put_;
  std::optional<Summary> open_[std::size(kLengths)];
};

Summaries::Summaries(Database &database)
    : find_(database, "SELECT * FROM summary WHERE camera = ?1 AND length = ?2 AND bucket = ?3"),
      put_(database,
           "INSERT OR REPLACE INTO summary VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
           "?12, ?13, ?14, ?15, ?16, ?17, ?18)"),
      forget_(database, "DELETE FROM summary WHERE camera = ?1 AND length = ?2 AND bucket < ?3"),
      clear_(database, "DELETE FROM summary WHERE camera = ?1"),
      rows_(database,
            "SELECT * FROM interval WHERE camera = ?1 AND time >= ?2 AND time < ?3 ORDER BY time"),
      parts_(database,
             "SELECT * FROM summary WHERE camera = ?1 AND length = ?2 AND bucket >= ?3 AND "
             "bucket < ?4 ORDER BY bucket") {}

void Summaries::put(int64_t camera, int64_t length, const Summary &summary) {
  const Row &row = summary.row;
  put_.run(camera, length, summary.bucket, row.time, row.duration, static_cast<int64_t>(row.frames),
           row.mean, row.least_mean, row.greatest_mean, row.stddev, row.p1, row.median, row.p99,
           row.clipped_low, row.clipped_high, text_of(row.verdicts),
           static_cast<int64_t>(summary.rows), summary.longest);
}

void Summaries::add(int64_t camera, int64_t finest, const Row &row, bool is_new) {
  if (row.time < kEarliest || row.time > kLatest) return;
  for (const int64_t length : kLengths) {
    if (length < finest) continue;
    Summary added = summary_of(row, length);
    added.rows = is_new ? 1 : 0;
    {
      Results there = find_.with(camera, length, added.bucket);
      if (there.next()) {
        Summary whole = summary_of(there, 2);
        whole.add(added);
        added = std::move(whole);
      }
    }
    put(camera, length, added);
  }
}

void Summaries::forget(int64_t camera, int64_t finest, std::optional<int64_t> first) {
  if (!first || *first > kLatest) return clear_.run(camera);
  for (const int64_t length : kLengths) forget_.run(camera, length, begin_of(*first, length));
  renew(camera, finest, *first);
}

/// Those that the first row lies in hold others that are gone.
void Summaries::renew(int64_t camera, int64_t finest, int64_t first) {
  int64_t finer = 0;
  for (const int64_t length : kLengths) {
    if (length < finest) continue;
    const int64_t bucket = begin_of(first, length);
    std::optional<Summary> whole;
    const auto take = [&](Summary part) {
      part.bucket = bucket;
      if (whole)
        whole->add(part);
      else
        whole = std::move(part);
    };
    Results parts = finer == 0 ? rows_.with(camera, bucket, bucket + length)
                               : parts_.with(camera, finer, bucket, bucket + length);
    while (parts.next())
      take(finer == 0 ? summary_of(row_of(parts, 1), length) : summary_of(parts, 2));
    if (whole) put(camera, length, *whole);
    finer = length;
  }
}

void Summaries::make(int64_t camera, int64_t finest) {
  clear_.run(camera);
  Pyramid pyramid(finest,
                  [&](int64_t length, const Summary &summary) { put(camera, length, summary); });
  Results rows = rows_.with(camera, kEarliest, kLatest + 1);
  while (rows.next()) pyramid.add(row_of(rows, 1));
  pyramid.finish();
}

}  // namespace luminance
