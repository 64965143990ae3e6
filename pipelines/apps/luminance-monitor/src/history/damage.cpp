// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/damage.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

namespace luminance {
namespace {

constexpr size_t kMaxLogged = 100;

// Limits for the duration of a row. Users can set intervals from one second to one day; the limits
// are wider to allow for rounding.
constexpr double kMinDuration = 1e-3, kMaxDuration = 86400 + 1;  // seconds
constexpr uint64_t kMaxFrames = uint64_t{1} << 50;

std::string number_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string time_fault_of(int64_t time) {
  if (time >= kEarliest && time <= kLatest) return {};
  return "time " + std::to_string(time) + " is out of range";
}

/// The comparisons are false for NaN, which is therefore a fault.
std::string duration_fault_of(const char *name, double duration, double max) {
  if (duration >= kMinDuration && duration <= max) return {};
  return std::string(name) + " " + number_of(duration) + " is out of range";
}

std::string frames_fault_of(const Row &row) {
  if (row.frames > kMaxFrames)
    return "frames " + std::to_string(static_cast<int64_t>(row.frames)) + " is out of range";
  if (row.frames == 0) return {};
  for (const double value : {row.mean, row.min_mean, row.max_mean, row.stddev, row.p1, row.median,
                             row.p99, row.clipped_low, row.clipped_high})
    if (!std::isfinite(value)) return "a luminance is not a finite number";
  return {};
}

template <class... Faults>
std::string first_of(const Faults &...faults) {
  std::string first;
  ((first.empty() ? void(first = faults) : void()), ...);
  return first;
}

std::string fault_of(const Row &row, double max_duration) {
  return first_of(time_fault_of(row.time),
                  duration_fault_of("duration", row.duration, max_duration), frames_fault_of(row));
}

bool is_length(int64_t length) {
  return std::find(std::begin(kLengths), std::end(kLengths), length) != std::end(kLengths);
}

bool log_fault(const Database &database, const std::string &record, const std::string &fault,
               const char *consequence) {
  if (fault.empty()) return true;
  log_once(database.text_of(record + ": " + fault + "; the file is damaged; " + consequence));
  return false;
}

}  // namespace

std::string row_name(int64_t camera) { return "row of camera " + std::to_string(camera); }

std::string summary_name(int64_t camera, int64_t length) {
  return "summary of " + std::to_string(length / 1000) + " s of camera " + std::to_string(camera);
}

void log_once(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> logged;
  const std::lock_guard lock(mutex);
  if (logged.size() >= kMaxLogged || !logged.insert(text).second) return;
  std::fprintf(stderr, "luminance-monitor: %s\n", text.c_str());
  if (logged.size() == kMaxLogged)
    std::fputs("luminance-monitor: further errors of the history are not logged\n", stderr);
}

std::string fault_of(const Row &row) { return fault_of(row, kMaxDuration); }

std::string fault_of(const Summary &summary, int64_t length) {
  const double seconds = static_cast<double>(length) / 1000;
  const std::string fault =
      first_of(fault_of(summary.row, seconds + kMaxDuration),
               duration_fault_of("max_duration", summary.max_duration, kMaxDuration));
  if (!fault.empty()) return fault;
  if (begin_of(summary.bucket, length) != summary.bucket ||
      begin_of(summary.row.time, length) != summary.bucket)
    return "time " + std::to_string(summary.row.time) + " is outside the summary's interval";
  if (summary.rows > static_cast<uint64_t>(length))
    return "row_count " + std::to_string(static_cast<int64_t>(summary.rows)) + " is out of range";
  return {};
}

std::string fault_of(const SummaryState &state) {
  const int64_t length = state.min_summary_length;
  if (length != 0 && length != kNoSummaries && !is_length(length))
    return "min_summary_length " + std::to_string(length) + " is not the length of a summary";
  if (state.until < kEarliest || state.until > kLatest ||
      (is_length(length) && state.until % length != 0))
    return "summarized_until " + std::to_string(state.until) +
           " is out of range or not a multiple of min_summary_length";
  return {};
}

bool is_sound(const Database &database, int64_t camera, const Row &row) {
  const std::string fault = fault_of(row);
  return fault.empty() || log_fault(database, row_name(camera) + " at " + std::to_string(row.time),
                                    fault, "the row is left out");
}

bool is_sound(const Database &database, int64_t camera, const Summary &summary, int64_t length) {
  const std::string fault = fault_of(summary, length);
  return fault.empty() ||
         log_fault(database, summary_name(camera, length) + " at " + std::to_string(summary.bucket),
                   fault, "its rows are read instead");
}

bool is_sound(const Database &database, const SummaryState &state) {
  return log_fault(database, "camera " + std::to_string(state.camera), fault_of(state),
                   "its rows are read instead of summaries");
}

bool is_sound(const Database &database, int64_t number, const Event &event, int64_t raised) {
  const std::string fault = event.camera.empty()         ? "its camera is missing"
                            : raised != 0 && raised != 1 ? "it is neither raised nor cleared"
                                                         : "";
  return log_fault(database, "event " + std::to_string(number), fault, "the event is left out");
}

bool is_sound(const Database &database, int64_t number, const Incident &incident) {
  const std::string fault =
      first_of(std::string(incident.camera.empty() ? "its camera is missing" : ""),
               time_fault_of(incident.since), time_fault_of(incident.until),
               std::string(incident.until < incident.since ? "it ends before it begins" : ""));
  return log_fault(database, "incident " + std::to_string(number), fault,
                   "the incident is left out");
}

void Ascending::check(int64_t key) {
  if (key < min_ || key > max_ || (last_ && key <= *last_)) fail(key);
  last_ = key;
}

void Ascending::check_end(std::optional<int64_t> greatest) const {
  if (greatest != last_) fail(greatest.value_or(last_.value_or(min_)));
}

void Ascending::fail(int64_t key) const {
  database_.fail_as_damaged(record_ + " at " + std::to_string(key) +
                            " is out of order; the file is damaged");
}

void Descending::check(int64_t time, int64_t number) {
  const std::pair key(time, number);
  if (time < min_ || time > max_ || (last_ && key >= *last_))
    database_.fail_as_damaged(record_ + " " + std::to_string(number) + " at " +
                              std::to_string(time) + " is out of order; the file is damaged");
  last_ = key;
}

}  // namespace luminance
