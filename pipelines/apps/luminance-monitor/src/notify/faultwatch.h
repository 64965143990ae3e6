// SPDX-License-Identifier: LGPL-2.1-or-later
// The faults of a monitor's cameras, from the changes of their verdicts.
#pragma once

#include <vector>

#include "notify/faults.h"
#include "watch/monitor.h"

namespace luminance {

class FaultWatch : public Observer {
 public:
  FaultWatch(const FaultLimits &limits, const Monitor &monitor)
      : faults_(limits), monitor_(monitor) {}

  /// For faults that stand, too. What was told is not told again.
  void set(const FaultLimits &limits) { faults_.set(limits); }
  /// What has to be told by now. Call a few times per second.
  std::vector<Alert> tick();
  /// Whether a fault was told and is not over.
  bool stands(const Camera &camera, Verdict verdict) const {
    return faults_.stands(camera.id(), verdict);
  }

  void on_change(const Camera &camera, const Change &change) override;
  void on_added(const Camera &camera) override { faults_.add(camera.id()); }
  void on_removed(const Camera &camera) override {
    faults_.remove(camera.id(), monitor_.clock().now());
  }

 private:
  Faults faults_;
  const Monitor &monitor_;
};

}  // namespace luminance
