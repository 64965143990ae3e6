// SPDX-License-Identifier: LGPL-2.1-or-later
// The faults of a monitor's cameras, from the changes of their verdicts.
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

  /// For faults that stand, too. What was told is not told again.
  void set(const FaultLimits &limits) {
    limits_ = limits;
    faults_.set(limits);
  }
  /// What has to be told by now. Call a few times per second.
  std::vector<Alert> tick();
  /// Whether a fault was told and is not over. Nothing where that is not known yet: a fault of the
  /// time before the monitor started is over only when its verdict was judged for as long as one of
  /// today.
  std::optional<bool> state_of(const Camera &camera, Verdict verdict) const;
  /// Whether states have become known since the last call.
  bool take_learned() { return std::exchange(has_learned_, false); }

  void on_change(const Camera &camera, const Change &change) override;
  void on_added(const Camera &camera) override { faults_.add(camera.id()); }
  void on_removed(const Camera &camera) override {
    faults_.remove(camera.id(), monitor_.clock().now());
  }

 private:
  struct Sighting {
    std::optional<Time> since;  // it has been judged, and there was no fault
    bool is_known = false;
  };
  using Sightings = std::array<Sighting, kVerdicts>;

  void look(const Camera &camera, Verdict verdict, Sight sight, Time now);
  void forget_removed();

  FaultLimits limits_;
  Faults faults_;
  const Monitor &monitor_;
  std::map<std::string, Sightings> sightings_;  // by camera
  bool has_learned_ = false;
};

}  // namespace luminance
