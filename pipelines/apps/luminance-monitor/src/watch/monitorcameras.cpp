// SPDX-License-Identifier: LGPL-2.1-or-later
// Cameras that come, go and change while others are watched.
#include <algorithm>
#include <utility>

#include "watch/monitor.h"

namespace luminance {

size_t Monitor::number_of(const Camera &camera) const {
  const auto found = std::find_if(by_number_.begin(), by_number_.end(),
                                  [&](const auto &entry) { return entry.second == &camera; });
  return found->first;
}

size_t Monitor::add(const CameraSettings &settings) {
  const Time now = clock_.now();
  cameras_.push_back(std::make_unique<Camera>(settings, interval_, now));
  cameras_.back()->reset_silence(listening_time_);
  cameras_.back()->set_minute(minute_of_day(clock_.wall(now)), now);
  if (auto former = former_maintenance_.extract(settings.id); !former.empty())
    cameras_.back()->set_maintenance(std::move(former.mapped()));
  by_number_[next_number_] = cameras_.back().get();
  for (Observer *observer : observers_) observer->on_added(*cameras_.back());
  return next_number_++;
}

void Monitor::remove(size_t number) {
  const auto entry = by_number_.find(number);
  Camera &camera = *entry->second;
  tell(camera, camera.set_status(Status::kEnded, clock_.now(), ""));
  for (Observer *observer : observers_) observer->on_removed(camera);
  if (camera.maintenance()) former_maintenance_[camera.id()] = *camera.maintenance();
  by_number_.erase(entry);
  cameras_.erase(std::find_if(cameras_.begin(), cameras_.end(),
                              [&](const auto &each) { return each.get() == &camera; }));
}

void Monitor::set_rules(size_t number, const Rules &rules, const Schedules &schedules) {
  Camera &camera = *by_number_.at(number);
  const Time now = clock_.now();
  camera.set_rules(rules, schedules, minute_of_day(clock_.wall(now)), now);
  for (Observer *observer : observers_) observer->on_rules(camera);
  tell(camera, {});
}

void Monitor::set_order(const std::vector<CameraSettings> &order) {
  std::unordered_map<std::string, size_t> positions;
  for (size_t i = 0; i < order.size(); ++i) positions[order[i].id] = i;
  std::sort(cameras_.begin(), cameras_.end(), [&](const auto &a, const auto &b) {
    return positions.at(a->id()) < positions.at(b->id());
  });
}

}  // namespace luminance
