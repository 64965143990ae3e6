// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/incidentpictures.h"

#include <algorithm>
#include <string>
#include <utility>

namespace luminance {
namespace {

// A picture that is taken later does not show how the incident began.
constexpr Time kLate = 60 * kSecond;

}  // namespace

void IncidentPictures::note(const Camera &camera, Verdict verdict) {
  if (history_ == nullptr) return;
  const std::optional<IncidentKey> incident = history_->incident_of(camera, verdict);
  // An incident from before the monitor started began with another picture.
  if (!incident || incident->since < begin_) return;
  wanted_.push_back({*incident, &camera, monitor_.clock().now()});
  ask();
}

void IncidentPictures::remove(const Camera &camera) {
  const auto is_of = [&](const Wanted &wanted) { return wanted.camera == &camera; };
  for (std::deque<Wanted> *list : {&wanted_, &later_})
    list->erase(std::remove_if(list->begin(), list->end(), is_of), list->end());
  if (asked_ && is_of(*asked_)) asked_->camera = nullptr;
}

void IncidentPictures::maintain() {
  wanted_.insert(wanted_.end(), later_.begin(), later_.end());
  later_.clear();
  ask();
}

void IncidentPictures::ask() {
  const auto is_late = [now = monitor_.clock().now()](const Wanted &wanted) {
    return now - wanted.time > kLate;
  };
  wanted_.erase(std::remove_if(wanted_.begin(), wanted_.end(), is_late), wanted_.end());
  if (asked_ || wanted_.empty()) return;
  asked_ = std::move(wanted_.front());
  wanted_.pop_front();
  const auto done = [this, alive = std::weak_ptr(alive_)](GBytes *jpeg) {
    if (!alive.expired()) take(jpeg);
  };
  stills_.still(monitor_.number_of(*asked_->camera), done);
}

void IncidentPictures::take(GBytes *jpeg) {
  const Wanted wanted = *std::exchange(asked_, std::nullopt);
  if (jpeg != nullptr) {
    gsize size = 0;
    const auto *bytes = static_cast<const char *>(g_bytes_get_data(jpeg, &size));
    const int64_t taken = monitor_.clock().wall(monitor_.clock().now());
    history_->keep_picture(
        {wanted.incident, taken, std::make_shared<const std::string>(bytes, size)});
  } else if (wanted.camera != nullptr) {
    later_.push_back(wanted);
  }
  ask();
}

}  // namespace luminance
