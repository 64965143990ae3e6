// SPDX-License-Identifier: LGPL-2.1-or-later
// The history in SQLite: rows for each camera and interval, events for verdicts raised and cleared,
// and incidents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "history/error.h"
#include "history/incident.h"
#include "history/incidenttable.h"
#include "settings/settings.h"
#include "watch/monitor.h"

namespace luminance {

struct HistoryStats {
  uint64_t failures = 0;   // failed writes since the monitor started
  size_t pending = 0;      // rows, verdicts and incidents for the next write
  uint64_t dropped = 0;    // those discarded since the monitor started
  uint64_t set_aside = 0;  // damaged files set aside since the monitor started
};

/// Rows begin at multiples of their length in wall clock time (UTC), so that the rows of all
/// cameras coincide. An interval with all its frames belongs to the row in which it begins.
///
/// Main thread only; other threads use a Reader. Writes are small and go to a write-ahead log; a
/// row survives a kill of the process once it is written.
class History : public Observer {
 public:
  enum class OpenMode {
    kImmediate,  // throws HistoryError if the file can be neither opened nor created
    kDeferred,   // keeps the failure as error() and tries again; also creates the folder
  };

  /// Opens the file, or creates it. As soon as the file is found to be damaged, now or later, it is
  /// set aside under a name with the date, and a new file is begun.
  History(const HistorySettings &settings, const Monitor &monitor,
          OpenMode mode = OpenMode::kImmediate);
  ~History() override;

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_change(const Camera &camera, const Change &change) override;
  void on_maintenance(const Camera &camera) override;
  void on_removed(const Camera &camera) override;
  /// Returns the camera's reference from when it was last watched; nothing if its video or region
  /// has changed since. Returns nothing with --fast, so that results for a recording do not vary.
  std::optional<Reference> reference(const Camera &camera);

  /// Returns the maintenance that was in force when the camera was last watched, if it still is.
  std::optional<Maintenance> maintenance(const Camera &camera);
  /// Returns whether the file was first opened since the last call, after the constructor had
  /// failed to open it. References and maintenance can be read only from then on.
  bool take_opened_late();

  /// Returns the open incident of the verdict; nothing if there is none.
  std::optional<IncidentKey> incident_of(const Camera &camera, Verdict verdict) const;
  /// Keeps a picture from the begin of an incident, unless the incident already has one. Discards
  /// pictures of more than 64 KiB.
  void keep_picture(const IncidentPicture &picture);
  /// Writes an acknowledgement or a comment to the file at once. Returns the incident as it is now;
  /// nothing if there is no such incident. Throws HistoryError if the file cannot be written.
  std::optional<KeptIncident> amend(int64_t incident, const Amendment &amendment);
  /// Returns a number that changes whenever incidents in the file change.
  uint64_t incidents_version() const;

  /// Writes the rows that are due, even without frames, and deletes expired ones. If a write fails,
  /// keeps its data for a while and tries again. Call it a few times per second.
  void tick();
  /// Writes everything, at the end of the program. The next monitor continues an incomplete row if
  /// it starts within the row's interval.
  void flush();

  const std::string &file() const;
  /// Why the last write failed; empty if it did not. A full disk does not end the monitor.
  const std::string &error() const;
  /// Message that a damaged file was set aside, with its new name; empty if no file was set aside
  /// since the monitor started.
  const std::string &notice() const;
  /// Returns the counts of failures and of data that are not in the file.
  HistoryStats stats() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Computes the summaries that the file of a history lacks, if the file exists. This can take a
/// while: call it before cameras are watched. Ignores errors, because History reports them.
void prepare(const HistorySettings &settings);

}  // namespace luminance
