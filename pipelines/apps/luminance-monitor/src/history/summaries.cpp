// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/summaries.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "history/columns.h"

namespace luminance {
namespace {

// A summary of fewer rows costs more than it saves.
constexpr int64_t kMinRows = 4;

}  // namespace

int64_t min_summary_length_for(int64_t row) {
  const auto *found = std::find_if(std::begin(kLengths), std::end(kLengths),
                                   [row](int64_t length) { return length >= kMinRows * row; });
  return found != std::end(kLengths) ? *found : kNoSummaries;
}

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

void cover(int64_t from, int64_t to, int64_t length, const SummaryState &there,
           const std::function<void(int64_t, int64_t, int64_t)> &part) {
  if (from >= to) return;
  const auto *const end = std::upper_bound(std::begin(kLengths), std::end(kLengths), length);
  if (end == std::begin(kLengths) || *std::prev(end) < there.min_summary_length)
    return part(0, from, to);
  const int64_t whole = *std::prev(end);
  const int64_t first = begin_of(from + whole - 1, whole),
                last = begin_of(std::min(to, there.until), whole);
  if (first >= last) return cover(from, to, whole - 1, there, part);
  cover(from, first, whole - 1, there, part);
  part(whole, first, last);
  cover(last, to, whole - 1, there, part);
}

Summaries::Summaries(Database &database)
    : find_(database, "SELECT * FROM summary WHERE camera = ?1 AND length = ?2 AND bucket = ?3"),
      put_(database,
           "INSERT OR REPLACE INTO summary VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
           "?12, ?13, ?14, ?15, ?16, ?17, ?18)"),
      delete_(database, "DELETE FROM summary WHERE camera = ?1 AND length = ?2 AND bucket < ?3"),
      clear_(database, "DELETE FROM summary WHERE camera = ?1"),
      rows_(
          database,
          "SELECT * FROM measurement WHERE camera = ?1 AND time >= ?2 AND time < ?3 ORDER BY time"),
      last_(database,
            "SELECT time FROM measurement WHERE camera = ?1 AND time BETWEEN ?2 AND ?3 "
            "ORDER BY time DESC LIMIT 1"),
      parts_(database,
             "SELECT * FROM summary WHERE camera = ?1 AND length = ?2 AND bucket >= ?3 AND "
             "bucket < ?4 ORDER BY bucket"),
      set_(database,
           "UPDATE camera SET min_summary_length = ?2, summarized_until = ?3 WHERE number = ?1") {}

void Summaries::put(int64_t camera, int64_t length, const Summary &summary) {
  const Row &row = summary.row;
  put_.run(camera, length, summary.bucket, row.time, row.duration, static_cast<int64_t>(row.frames),
           row.mean, row.min_mean, row.max_mean, row.stddev, row.p1, row.median, row.p99,
           row.clipped_low, row.clipped_high, text_of(row.verdicts),
           static_cast<int64_t>(summary.rows), summary.max_duration);
}

/// Of rows, where `finer` is 0, or of finer summaries.
void Summaries::summarize(int64_t camera, int64_t finer, int64_t length, int64_t from, int64_t to) {
  std::optional<Summary> open;
  Results parts = finer == 0 ? rows_.with(camera, from, to) : parts_.with(camera, finer, from, to);
  while (parts.next()) {
    Summary part = finer == 0 ? summary_of(row_of(parts, 1), length) : summary_of(parts, 2);
    part.bucket = begin_of(part.bucket, length);
    if (open && open->bucket == part.bucket) {
      open->add(part);
      continue;
    }
    if (open) put(camera, length, *open);
    open = std::move(part);
  }
  if (open) put(camera, length, *open);
}

void Summaries::advance(SummaryState &there, int64_t newest) {
  if (there.min_summary_length == kNoSummaries || newest < kEarliest || newest > kLatest) return;
  const int64_t until = begin_of(newest, there.min_summary_length);
  if (until <= there.until) return;
  int64_t finer = 0;
  for (const int64_t length : kLengths) {
    if (length < there.min_summary_length) continue;
    const int64_t from = begin_of(there.until, length), to = begin_of(until, length);
    if (from == to) break;  // nor is anything longer over
    summarize(there.camera, finer, length, from, to);
    finer = length;
  }
  there.until = until;
  set_.run(there.camera, there.min_summary_length, there.until);
}

void Summaries::refresh_first_summary(const SummaryState &there, const Row &row,
                                      std::optional<int64_t> first) {
  if (!first || row.time >= *first || row.time < kEarliest) return;
  // What the first row lies in is read from now on: without the rows that are gone.
  int64_t finer = 0;
  for (const int64_t length : kLengths) {
    if (length < there.min_summary_length) continue;
    const int64_t bucket = begin_of(*first, length);
    if (bucket >= begin_of(there.until, length)) break;
    summarize(there.camera, finer, length, bucket, bucket + length);
    finer = length;
  }
}

void Summaries::add(const SummaryState &there, const Row &row, bool is_new) {
  if (row.time < kEarliest || row.time > kLatest) return;
  for (const int64_t length : kLengths) {
    if (length < there.min_summary_length) continue;
    Summary added = summary_of(row, length);
    if (added.bucket >= begin_of(there.until, length)) break;  // it is summarized later
    added.rows = is_new ? 1 : 0;
    {
      Results found = find_.with(there.camera, length, added.bucket);
      if (found.next()) {
        Summary whole = summary_of(found, 2);
        whole.add(added);
        added = std::move(whole);
      }
    }
    put(there.camera, length, added);
  }
}

void Summaries::delete_before(const SummaryState &there, std::optional<int64_t> first) {
  if (!first || *first > kLatest) return clear_.run(there.camera);
  for (const int64_t length : kLengths) delete_.run(there.camera, length, begin_of(*first, length));
}

void Summaries::make(SummaryState &there) {
  clear_.run(there.camera);
  there.until = 0;
  set_.run(there.camera, there.min_summary_length, there.until);
  int64_t newest = -1;
  {
    Results last = last_.with(there.camera, kEarliest, kLatest);
    if (last.next()) newest = last.integer(0);
  }
  advance(there, newest);
}

}  // namespace luminance
