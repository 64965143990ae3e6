// SPDX-License-Identifier: LGPL-2.1-or-later
// Begins, follows and ends incidents. Main thread only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "history/incident.h"
#include "watch/monitor.h"

namespace luminance {

class OpenIncidents {
 public:
  /// Receives an incident that has begun, has ended, or still lasts.
  using Put = std::function<void(const Incident &incident)>;

  OpenIncidents(const Monitor &monitor, Put put) : monitor_(monitor), put_(std::move(put)) {}

  /// Resumes the incidents that lasted when the previous monitor wrote the file. If such a verdict
  /// is raised again soon, its incident continues; otherwise the incident ended when it was last
  /// known to last.
  void resume(std::vector<Incident> incidents);
  void note(const Camera &camera, const Change &change);
  /// Updates the worst values of the camera's open incidents from its active verdicts.
  void look(const Camera &camera);
  /// Passes the camera's open incidents, as they are now, to Put.
  void report(const Camera &camera);
  void remove(const Camera &camera);
  /// Ends former incidents that were not resumed in time. Call it a few times per second.
  void tick();
  /// Passes all open incidents to Put at the end of the program. Incidents in a recording end with
  /// it.
  void finish();
  /// Returns the open incident of the verdict; nothing if there is none.
  std::optional<IncidentKey> key_of(const Camera &camera, Verdict verdict) const;

 private:
  using Open = std::map<Verdict, Incident>;
  struct Former {
    Incident incident;
    Time deadline;  // until when it can be resumed
  };

  int64_t wall(Time time) const { return monitor_.clock().wall(time); }
  int64_t now() const { return wall(monitor_.clock().now()); }
  void begin(const Camera &camera, const Change &change);
  void end(Incident incident, int64_t time, std::string_view reason);
  std::optional<Incident> take_former(const std::string &camera, Verdict verdict);
  /// Whether the incident waits to be resumed.
  bool is_former(const Incident &incident) const;
  bool is_lost(const Former &former) const;

  const Monitor &monitor_;
  const Put put_;
  std::map<const Camera *, Open> open_;
  std::vector<Former> former_;
};

}  // namespace luminance
