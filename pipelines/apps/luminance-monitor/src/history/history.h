// SPDX-License-Identifier: LGPL-2.1-or-later
// The history in SQLite: a row for each camera and interval, each verdict raised or cleared, and the
// incidents that these make.
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
  uint64_t dropped = 0;    // of them, discarded since the monitor started
  uint64_t set_aside = 0;  // damaged files since the monitor started
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
    kDeferred,   // keeps that as error() and tries again; also creates the folder
  };

  /// Opens the file, or creates it. One that is damaged is set aside under a name with the date, and
  /// a new one is begun, now or when the damage is found.
  History(const HistorySettings &settings, const Monitor &monitor,
          OpenMode mode = OpenMode::kImmediate);
  ~History() override;

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_change(const Camera &camera, const Change &change) override;
  void on_maintenance(const Camera &camera) override;
  void on_removed(const Camera &camera) override;
  /// What the camera was meant to look at when it was last watched, unless it is another camera by
  /// now. Nothing where times are those of frames: what is found in a recording is always the same.
  std::optional<Reference> reference(const Camera &camera);

  /// Its maintenance, which lasted when the camera was last watched, and still does.
  std::optional<Maintenance> maintenance(const Camera &camera);
  /// Whether the file could be opened at last, since the last call: only now it can be asked what it has.
  bool take_opened_late();

  /// The incident of a verdict that stands; nothing if none does.
  std::optional<IncidentKey> incident_of(const Camera &camera, Verdict verdict) const;
  /// Keeps what was seen when an incident began, unless it has a picture. Those of more than 64 KiB
  /// are not kept.
  void keep_picture(const IncidentPicture &picture);
  /// Writes what people say of an incident, at once. Returns it as it is now, or nothing if there is
  /// none; throws HistoryError if that cannot be written.
  std::optional<KeptIncident> amend(int64_t incident, const Amendment &amendment);
  /// Another number whenever incidents in the file have changed.
  uint64_t incidents_version() const;

  /// Call a few times per second: writes the rows that are due, even without frames, and deletes
  /// expired ones. If a write fails, its data are kept for a while and tried again.
  void tick();
  /// Writes everything, at the end of the program. The next monitor continues an incomplete row if
  /// it starts within it.
  void flush();

  const std::string &file() const;
  /// Why the last write failed; empty if it did not. A full disk does not end the monitor.
  const std::string &error() const;
  /// That a damaged file was set aside, and where it is; empty if none was since the monitor started.
  const std::string &notice() const;
  /// Data that are not in the file.
  HistoryStats stats() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Computes the summaries that the file of a history lacks, if it exists. This can take a while: call it
/// before cameras are watched. Errors are ignored here, because History reports them.
void prepare(const HistorySettings &settings);

}  // namespace luminance
