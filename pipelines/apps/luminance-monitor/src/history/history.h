// SPDX-License-Identifier: LGPL-2.1-or-later
// What was, in SQLite: a row for each camera and interval, and each verdict that was raised or
// cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "history/error.h"
#include "settings/settings.h"
#include "watch/monitor.h"

namespace luminance {

struct HistoryTroubles {
  uint64_t failures = 0;  // writes that failed since the monitor began
  size_t waiting = 0;     // rows and verdicts that the next write is to take with it
  uint64_t lost = 0;      // those that were given up since the monitor began, as too many waited
};

/// Rows begin at multiples of their length by the wall clock (UTC), so that those of several
/// cameras lie side by side. An interval belongs to the row that it begins in, with all its frames.
///
/// Main thread only: others read by a Reader. Writes are small and go to a write-ahead log; a row is
/// safe from a kill once it is written.
class History : public Observer {
 public:
  enum class Need {
    kNow,    // throws HistoryError where the file can be neither opened nor begun
    kLater,  // that is the error then, and it is tried again; the folder is made, too
  };

  /// Opens the file, or begins it.
  History(const HistorySettings &settings, const Monitor &monitor, Need need = Need::kNow);
  ~History() override;

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_change(const Camera &camera, const Change &change) override;
  void on_removed(const Camera &camera) override;
  /// Writes the rows that are due, also where no frames come, and forgets what is too old. A few
  /// times a second. What cannot be written is kept for a while, and tried again.
  void tick();
  /// Writes what is at hand, as at the end. A row that is not over goes on where the next monitor
  /// begins in it.
  void flush();

  const std::string &file() const;
  /// Why the last write failed; empty where it did not. A full disk does not end the monitor.
  const std::string &error() const;
  /// What does not get into the file.
  HistoryTroubles troubles() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Brings a history's file to this version, where there is one, for rows as they are set: this can
/// take a while, and is for before cameras are watched. What is wrong with it, History says.
void prepare(const HistorySettings &settings);

}  // namespace luminance
