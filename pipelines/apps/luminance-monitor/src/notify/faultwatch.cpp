// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/faultwatch.h"

#include <algorithm>
#include <cstdint>

namespace luminance {
namespace {

/// Returns how long a verdict has to be true before it is raised.
Time delay_of(const Camera &camera, Verdict verdict) {
  const Rule &rule = camera.rules()[static_cast<size_t>(verdict)];
  return seconds(is_duration(verdict) ? rule.raise : rule.hold);
}

}  // namespace

std::vector<Alert> FaultWatch::tick() {
  const Time now = monitor_.clock().now();
  const int64_t wall = monitor_.clock().wall(now);
  for (const auto &camera : monitor_.cameras()) {
    std::array<Sight, kVerdicts> sights;
    for (size_t i = 0; i < kVerdicts; ++i) sights[i] = camera->sight_of(static_cast<Verdict>(i));
    faults_.look(camera->id(), sights, wall, now);
    faults_.set_maintenance(camera->id(), camera->maintenance().has_value());
  }
  const std::vector<Alert> alerts = faults_.tick(now);
  for (const auto &camera : monitor_.cameras())
    for (size_t i = 0; i < kVerdicts; ++i) {
      const auto verdict = static_cast<Verdict>(i);
      look(*camera, verdict, camera->sight_of(verdict), now);
    }
  forget_removed();
  return alerts;
}

void FaultWatch::look(const Camera &camera, Verdict verdict, Sight sight, Time now) {
  Sighting &sighting = sightings_[camera.id()][static_cast<size_t>(verdict)];
  if (sighting.is_known) return;
  if (sight == Sight::kBlind || faults_.has(camera.id(), verdict))
    sighting.since.reset();
  else if (!sighting.since)
    sighting.since = now;
  const Time enough = std::max(limits_.after, limits_.settle) + delay_of(camera, verdict);
  const bool is_over = sighting.since && now - *sighting.since >= enough;
  if (!is_over && !faults_.stands(camera.id(), verdict)) return;
  sighting.is_known = has_learned_ = true;
}

/// Runs in tick() and not on removal, because a camera whose settings change is removed and added
/// again.
void FaultWatch::forget_removed() {
  const auto &cameras = monitor_.cameras();
  for (auto entry = sightings_.begin(); entry != sightings_.end();) {
    const bool is_there = std::any_of(cameras.begin(), cameras.end(), [&](const auto &camera) {
      return camera->id() == entry->first;
    });
    entry = is_there ? std::next(entry) : sightings_.erase(entry);
  }
}

std::optional<bool> FaultWatch::state_of(const Camera &camera, Verdict verdict) const {
  const auto known = sightings_.find(camera.id());
  if (known == sightings_.end() || !known->second[static_cast<size_t>(verdict)].is_known) return {};
  return faults_.stands(camera.id(), verdict);
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
  faults_.raise(alert, change.time, delay_of(camera, change.verdict));
}

}  // namespace luminance
