// SPDX-License-Identifier: LGPL-2.1-or-later
// The incidents that last: begins, follows and ends them. Main thread only.
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
  /// Takes an incident that has begun, is over, or still lasts.
  using Put = std::function<void(const Incident &incident)>;

  OpenIncidents(const Monitor &monitor, Put put) : monitor_(monitor), put_(std::move(put)) {}

  /// What lasted when the file was written by the monitor before this one. If such a verdict is
  /// raised again soon, its incident goes on; otherwise it was over when it was last known to last.
  void resume(std::vector<Incident> incidents);
  void note(const Camera &camera, const Change &change);
  /// Notes the values of what stands now.
  void look(const Camera &camera);
  /// Gives out those of the camera as they are now.
  void report(const Camera &camera);
  void remove(const Camera &camera);
  /// Ends those that were not resumed in time. Call a few times per second.
  void tick();
  /// The program ends: gives out all. A recording is over, and with it what was found in it.
  void finish();
  /// The incident of a verdict that stands; nothing if none does.
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
  /// Whether it waits to be resumed.
  bool is_former(const Incident &incident) const;
  bool is_lost(const Former &former) const;

  const Monitor &monitor_;
  const Put put_;
  std::map<const Camera *, Open> open_;
  std::vector<Former> former_;
};

}  // namespace luminance
