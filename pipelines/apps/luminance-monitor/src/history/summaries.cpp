// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/summaries.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "history/columns.h"
#include "history/damage.h"

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

void cover(int64_t from, int64_t to, int64_t length, const SummaryState &there,
           const std::function<void(int64_t, int64_t, int64_t)> &part) {
  if (from >= to) return;
  if (from < kEarliest || to - 1 > kLatest) return part(0, from, to);
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
    : database_(database),
      rows_(database),
      parts_(database),
      find_(database, "SELECT * FROM summary WHERE camera = ?1 AND length = ?2 AND bucket = ?3"),
      put_(database,
           "INSERT OR REPLACE INTO summary VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
           "?12, ?13, ?14, ?15, ?16, ?17, ?18)"),
      delete_(database, "DELETE FROM summary WHERE camera = ?1 AND length = ?2 AND bucket < ?3"),
      clear_(database, "DELETE FROM summary WHERE camera = ?1"),
      set_(database,
           "UPDATE camera SET min_summary_length = ?2, summarized_until = ?3 WHERE number = ?1") {}

void Summaries::put(int64_t camera, int64_t length, const Summary &summary) {
  const Row &row = summary.row;
  put_.run(camera, length, summary.bucket, row.time, row.duration, static_cast<int64_t>(row.frames),
           row.mean, row.min_mean, row.max_mean, row.stddev, row.p1, row.median, row.p99,
           row.clipped_low, row.clipped_high, text_of(row.verdicts),
           static_cast<int64_t>(summary.rows), summary.max_duration);
}

/// Computes summaries of `length` from summaries of the length `finer`; from rows if `finer` is 0
/// or one of these summaries is damaged.
void Summaries::summarize(int64_t camera, int64_t finer, int64_t length, int64_t from, int64_t to) {
  std::optional<Summary> open;
  const auto add = [&](Summary part) {
    part.bucket = begin_of(part.bucket, length);
    if (open && open->bucket == part.bucket) return open->add(part);
    if (open) put(camera, length, *open);
    open = std::move(part);
  };
  try {
    if (finer == 0)
      rows_.each(camera, from, to, [&](const Row &row) { add(summary_of(row, length)); });
    else
      parts_.each(camera, finer, from, to, add);
  } catch (const DamagedSummary &) {
    return summarize(camera, 0, length, from, to);
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
    if (from == to) break;  // longer intervals are not over, either
    summarize(there.camera, finer, length, from, to);
    finer = length;
  }
  there.until = until;
  set_.run(there.camera, there.min_summary_length, there.until);
}

void Summaries::refresh_first_summary(const SummaryState &there, const Row &row,
                                      std::optional<int64_t> first) {
  if (!first || row.time >= *first || row.time < kEarliest) return;
  // The summaries that contain the first row are read from now on, so they must not include
  // deleted rows.
  int64_t finer = 0;
  for (const int64_t length : kLengths) {
    if (length < there.min_summary_length) continue;
    const int64_t bucket = begin_of(*first, length);
    if (bucket >= begin_of(there.until, length)) break;
    summarize(there.camera, finer, length, bucket, bucket + length);
    finer = length;
  }
}

std::optional<Summary> Summaries::find(int64_t camera, int64_t length, int64_t bucket,
                                       bool &is_damaged) {
  Results found = find_.with(camera, length, bucket);
  if (!found.next()) return {};
  Summary summary = summary_of(found, 2);
  is_damaged = summary.bucket != bucket || !is_sound(database_, camera, summary, length);
  return summary;
}

void Summaries::add(const SummaryState &there, const Row &row, bool is_new) {
  if (row.time < kEarliest || row.time > kLatest) return;
  int64_t finer = 0;
  for (const int64_t length : kLengths) {
    if (length < there.min_summary_length) continue;
    Summary added = summary_of(row, length);
    const int64_t bucket = added.bucket;
    if (bucket >= begin_of(there.until, length)) break;  // it is summarized later
    added.rows = is_new ? 1 : 0;
    bool is_damaged = false;
    std::optional<Summary> whole = find(there.camera, length, bucket, is_damaged);
    if (is_damaged) {
      summarize(there.camera, finer, length, bucket, bucket + length);
    } else {
      if (whole) whole->add(added);
      put(there.camera, length, whole ? *whole : added);
    }
    finer = length;
  }
}

void Summaries::delete_before(int64_t camera, std::optional<int64_t> first) {
  if (!first || *first > kLatest) return clear_.run(camera);
  for (const int64_t length : kLengths) delete_.run(camera, length, begin_of(*first, length));
}

void Summaries::make(SummaryState &there) {
  clear_.run(there.camera);
  there.until = 0;
  set_.run(there.camera, there.min_summary_length, there.until);
  advance(there, rows_.last(there.camera, kEarliest, kLatest + 1).value_or(-1));
}

}  // namespace luminance
