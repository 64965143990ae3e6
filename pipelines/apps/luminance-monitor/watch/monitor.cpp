// SPDX-License-Identifier: LGPL-2.1-or-later
#include "monitor.h"

namespace luminance {

Monitor::Monitor(const Settings &settings, Clock &clock)
    : clock_(clock), interval_(settings.interval) {
  for (const CameraSettings &camera : settings.cameras) add(camera);
}

const Camera *Monitor::camera(std::string_view id) const {
  for (const auto &camera : cameras_)
    if (camera->id() == id) return camera.get();
  return nullptr;
}

void Monitor::take(size_t index, const Measurement &frame) {
  Camera &camera = *by_number_.at(index);
  clock_.advance(frame.time);
  if (camera.status() != Status::kPlaying) set_status(index, Status::kPlaying);
  tell(camera, camera.take(frame));
}

void Monitor::set_status(size_t index, Status status, const std::string &error) {
  Camera &camera = *by_number_.at(index);
  tell(camera, camera.set_status(status, clock_.now(), error));
  for (Observer *observer : observers_) observer->on_status(camera);
}

void Monitor::tick() {
  // Where time is that of frames, only frames say how much of it has gone by.
  if (clock_.is_fast()) return;
  for (const auto &camera : cameras_) tell(*camera, camera->tick(clock_.now()));
}

void Monitor::finish() {
  for (const auto &camera : cameras_) tell(*camera, camera->finish());
}

void Monitor::tell(Camera &camera, const std::optional<Interval> &interval) {
  for (const Change &change : camera.take_changes())
    for (Observer *observer : observers_) observer->on_change(camera, change);
  if (interval)
    for (Observer *observer : observers_) observer->on_interval(camera, *interval);
}

}  // namespace luminance
