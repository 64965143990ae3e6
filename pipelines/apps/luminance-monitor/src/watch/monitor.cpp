// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/monitor.h"

#include <algorithm>

namespace luminance {
namespace {

// Two looks at the clock are 200 ms apart. In a longer gap, the main loop was late or the program
// was stopped, and a camera that the program did not listen to was not silent. A loop that is
// always late still counts some time, so that it finds a silent camera, although late.
constexpr Time kMaxTickGap = 2 * kSecond / 5;
// After a stop of this length, cameras get time to come back.
constexpr Time kAway = 5 * kSecond;

}  // namespace

Monitor::Monitor(const Settings &settings, Clock &clock)
    : clock_(clock),
      last_check_(clock.now()),
      listening_time_(last_check_),
      interval_(settings.interval) {
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
  listen();
  if (camera.status() != Status::kPlaying) set_status(index, Status::kPlaying);
  put_rules_in_force(camera, frame.time);
  const std::optional<Interval> ended =
      camera.take(frame, clock_.is_fast() ? frame.time : listening_time_);
  if (camera.scene_learned() && !camera.reference_time())
    camera.set_reference_time(clock_.wall(*camera.scene_learned()));
  tell(camera, ended);
}

void Monitor::set_status(size_t index, Status status, const std::string &error) {
  Camera &camera = *by_number_.at(index);
  tell(camera, camera.set_status(status, clock_.now(), error));
  for (Observer *observer : observers_) observer->on_status(camera);
}

void Monitor::renew_scene(size_t index) {
  Camera &camera = *by_number_.at(index);
  camera.renew_scene(clock_.now());
  tell(camera, {});
}

void Monitor::restore_reference(size_t index, const Reference &reference) {
  const Time now = clock_.now();
  const int64_t age = std::max<int64_t>(0, clock_.wall(now) - reference.learned);
  by_number_.at(index)->restore_reference(reference, now - age * (kSecond / 1000), now);
}

void Monitor::keep_reference_picture(size_t index, Time learned,
                                     const std::shared_ptr<const std::string> &jpeg) {
  const auto found = by_number_.find(index);
  if (found != by_number_.end() && found->second->scene_learned() == learned)
    found->second->keep_reference_picture(jpeg);
}

void Monitor::set_maintenance(size_t index, const std::optional<Maintenance> &maintenance) {
  Camera &camera = *by_number_.at(index);
  camera.set_maintenance(maintenance);
  for (Observer *observer : observers_) observer->on_maintenance(camera);
}

/// Ends the maintenance of cameras where its end has come.
void Monitor::end_maintenance() {
  const int64_t now = clock_.wall(clock_.now());
  for (const auto &camera : cameras_)
    if (camera->maintenance() && camera->maintenance()->is_over(now))
      set_maintenance(number_of(*camera), {});
}

void Monitor::tick() {
  end_maintenance();
  // If time is that of frames, only frames tell how much of it has elapsed.
  if (clock_.is_fast()) return;
  clock_.check_suspend();
  listen();
  for (const auto &camera : cameras_) {
    put_rules_in_force(*camera, clock_.now());
    tell(*camera, camera->tick(clock_.now(), listening_time_));
  }
}

void Monitor::finish() {
  for (const auto &camera : cameras_) tell(*camera, camera->finish());
}

/// Counts the time since the last look at the clock as listening time, except for gaps.
void Monitor::listen() {
  if (clock_.is_fast()) return;
  const Time elapsed = clock_.now() - last_check_;
  last_check_ += elapsed;
  listening_time_ += std::min(elapsed, kMaxTickGap);
  if (elapsed <= kAway) return;
  for (const auto &camera : cameras_) camera->reset_silence(listening_time_);
}

/// Puts the rules of the time of day in force.
void Monitor::put_rules_in_force(Camera &camera, Time time) {
  if (!camera.has_schedule()) return;
  if (!camera.set_minute(minute_of_day(clock_.wall(time)), time)) return;
  for (Observer *observer : observers_) observer->on_rules(camera);
}

void Monitor::tell(Camera &camera, const std::optional<Interval> &interval) {
  for (const Change &change : camera.take_changes())
    for (Observer *observer : observers_) observer->on_change(camera, change);
  if (interval)
    for (Observer *observer : observers_) observer->on_interval(camera, *interval);
}

}  // namespace luminance
