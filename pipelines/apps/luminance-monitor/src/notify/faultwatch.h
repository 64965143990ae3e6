// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches the verdicts of a monitor's cameras, and derives their faults.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "notify/faults.h"
#include "watch/monitor.h"

namespace luminance {

class FaultWatch : public Observer {
 public:
  FaultWatch(const FaultLimits &limits, const Monitor &monitor)
      : limits_(limits), faults_(limits), monitor_(monitor) {}

  /// Sets the limits, also for present faults. Alerts that were sent are not repeated.
  void set(const FaultLimits &limits) {
    limits_ = limits;
    faults_.set(limits);
  }
  /// Returns the alerts that are due. Call a few times per second.
  std::vector<Alert> tick();
  /// Returns whether a fault was told and is not over, or nothing if that is not known yet: a fault
  /// may have begun before the monitor started, and is over only after its verdict has been judged
  /// for as long as that of any other fault.
  std::optional<bool> state_of(const Camera &camera, Verdict verdict) const;
  /// Returns whether states have become known since the last call.
  bool take_learned() { return std::exchange(has_learned_, false); }

  void on_change(const Camera &camera, const Change &change) override;
  void on_added(const Camera &camera) override { faults_.add(camera.id()); }
  void on_removed(const Camera &camera) override {
    faults_.remove(camera.id(), monitor_.clock().now());
  }

 private:
  struct Sighting {
    std::optional<Time> since;  // since when it has been judged, without a fault
    bool is_known = false;
  };
  using Sightings = std::array<Sighting, kVerdicts>;

  void look(const Camera &camera, Verdict verdict, Sight sight, Time now);
  void forget_removed();

  FaultLimits limits_;
  Faults faults_;
  const Monitor &monitor_;
  std::map<std::string, Sightings> sightings_;  // by the camera's id
  bool has_learned_ = false;
};

}  // namespace luminance
