// SPDX-License-Identifier: LGPL-2.1-or-later
// What was, in SQLite: a row for each camera and interval, and each verdict that was raised or
// cleared.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../settings/settings.h"
#include "../watch/monitor.h"

namespace luminance {

/// The text names the file and what SQLite says.
struct HistoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Row {
  int64_t time;     // milliseconds since 1970, of its begin
  double duration;  // seconds
  uint64_t frames;
  double mean, least_mean, greatest_mean, stddev;
  unsigned p1, median, p99;
  double clipped_low, clipped_high;
  std::vector<Verdict> verdicts;  // that stood at some time in it
};

struct Event {
  int64_t time;
  std::string camera;  // id
  Verdict verdict;
  bool raised;
  double value;
};

/// Main thread only. Writes are small and go to a write-ahead log; a row is safe from a kill once
/// it is written.
class History : public Observer {
 public:
  /// Opens the file, or begins it. Throws HistoryError.
  History(const HistorySettings &settings, const Monitor &monitor);
  ~History() override;

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_change(const Camera &camera, const Change &change) override;
  /// Writes rows that are due also where no frames come, and forgets what is too old.
  void tick();
  /// Writes what is at hand, as at the end.
  void flush();

  /// The oldest first, at most `points`.
  std::vector<Row> rows(const std::string &camera, int64_t from, int64_t to, size_t points) const;
  /// The newest first.
  std::vector<Event> events(const std::optional<std::string> &camera, int64_t from, int64_t to,
                            size_t limit) const;
  /// Why the last write failed; empty where it did not. A full disk does not end the monitor.
  const std::string &error() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Writes all rows of a history's file as CSV, with a header. Throws HistoryError.
void export_csv(const std::string &file, std::ostream &out);

}  // namespace luminance
