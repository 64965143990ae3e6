// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/faultwatch.h"

#include <cstdint>

namespace luminance {

std::vector<Alert> FaultWatch::tick() {
  const Time now = monitor_.clock().now();
  const int64_t wall = monitor_.clock().wall(now);
  for (const auto &camera : monitor_.cameras()) {
    std::array<Sight, kVerdicts> sights;
    for (size_t i = 0; i < kVerdicts; ++i) sights[i] = camera->sight_of(static_cast<Verdict>(i));
    faults_.look(camera->id(), sights, wall, now);
    faults_.set_maintenance(camera->id(), camera->maintenance().has_value());
  }
  return faults_.tick(now);
}

void FaultWatch::on_change(const Camera &camera, const Change &change) {
  const Time now = monitor_.clock().now();
  const int64_t wall = monitor_.clock().wall(change.time);
  if (!change.raised) return faults_.clear(camera.id(), change.verdict, change.cause, wall, now);
  const Rule &rule = camera.rules()[static_cast<size_t>(change.verdict)];
  Alert alert;
  alert.camera = camera.id();
  alert.name = camera.name();
  alert.verdict = change.verdict;
  alert.since = wall;
  alert.value = change.value;
  alert.threshold = change.threshold.value_or(rule.raise);
  const double delay = is_duration(change.verdict) ? rule.raise : rule.hold;
  faults_.raise(alert, change.time, seconds(delay));
}

}  // namespace luminance
