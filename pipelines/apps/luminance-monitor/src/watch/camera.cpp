// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/camera.h"

#include <algorithm>
#include <utility>

namespace luminance {
namespace {

// Frames that are still on their way may belong to an interval that is over by the clock.
constexpr Time kLate = kSecond / 2;
constexpr Time kStill = 5 * kSecond;  // without a frame for this long, there is no frame rate

/// Returns how long the latest frame counts. A polled picture counts until the next one is missing.
Time still_of(const CameraSettings &settings) {
  return std::max(kStill, seconds(2 * settings.snapshot_interval));
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kConnecting: return "connecting";
    case Status::kPlaying: return "playing";
    case Status::kWaiting: return "waiting";
    case Status::kEnded: return "ended";
  }
  return "";
}

Camera::Camera(const CameraSettings &settings, double interval, Time now)
    : settings_(settings),
      length_(seconds(interval)),
      still_(still_of(settings)),
      status_since_(now),
      last_heard_(now),
      judge_(settings.rules, now) {}

std::optional<Interval> Camera::take(const Measurement &frame, Time listening_time) {
  std::optional<Interval> ended;
  const bool goes_back = last_frame_ && frame.time < *last_frame_;
  if (!accumulator_.is_empty() && (goes_back || frame.time - accumulator_.begin() >= length_))
    ended = close();
  if (accumulator_.is_empty()) {
    if (!goes_back) measure_rate(frame.time);
    rate_begin_ = {frame.time, frames_};
  }
  accumulator_.add(frame);
  ++frames_;
  last_frame_ = frame.time;
  last_heard_ = listening_time;
  note(judge_.judge(frame, listening_time));
  return ended;
}

std::optional<Interval> Camera::tick(Time now, Time listening_time) {
  if (status_ == Status::kEnded) return {};
  note(judge_.tick(now, listening_time));
  if (last_frame_ && listening_time - last_heard_ > still_) {
    frame_rate_ = 0;
    rate_begin_.reset();
    interval_.reset();
  }
  if (accumulator_.is_empty() || now - accumulator_.begin() < length_ + kLate) return {};
  return close();
}

bool Camera::has_schedule() const {
  const Schedules &schedules = settings_.schedules;
  return std::any_of(schedules.begin(), schedules.end(),
                     [](const Schedule &schedule) { return !schedule.empty(); });
}

bool Camera::set_minute(unsigned minute, Time now) {
  if (minute_ == minute) return false;
  minute_ = minute;
  const Rules rules = rules_at(minute, settings_.rules, settings_.schedules);
  if (rules == judge_.rules()) return false;
  note(judge_.set_rules(rules, now));
  return true;
}

void Camera::set_rules(const Rules &rules, const Schedules &schedules, unsigned minute, Time now) {
  settings_.rules = rules;
  settings_.schedules = schedules;
  minute_.reset();
  set_minute(minute, now);
}

std::optional<Reference> Camera::reference() const {
  const Scenery &scenery = judge_.scenery();
  if (!scenery.learned() || !reference_time_) return {};
  return Reference{scenery.scenes(), *reference_time_, reference_picture_};
}

void Camera::renew_scene(Time now) {
  reference_picture_.reset();
  reference_time_.reset();
  note(judge_.renew_scene(now));
}

void Camera::restore_reference(const Reference &reference, Time learned, Time now) {
  reference_picture_ = reference.picture;
  reference_time_ = reference.learned;
  judge_.scenery().restore(reference.scenes, learned, now);
}

void Camera::keep_reference_picture(const std::shared_ptr<const std::string> &jpeg) {
  reference_picture_ = jpeg;
  ++pictures_kept_;
}

void Camera::reset_silence(Time listening_time) {
  last_heard_ = listening_time;
  judge_.reset_silence(listening_time);
}

std::optional<Interval> Camera::finish() {
  if (accumulator_.is_empty()) return {};
  return close();
}

std::optional<Interval> Camera::set_status(Status status, Time now, const std::string &error) {
  if (status == Status::kConnecting && status_ == Status::kWaiting) ++reconnects_;
  status_ = status;
  status_since_ = now;
  error_ = error;
  if (status == Status::kPlaying) return {};
  judge_.restart();
  std::optional<Interval> ended = finish();
  interval_.reset();
  frame_rate_ = 0;
  rate_begin_.reset();
  return ended;
}

std::vector<Change> Camera::take_changes() { return std::exchange(changes_, {}); }

/// Measures the frames of an interval per time until the first frame of the next interval.
void Camera::measure_rate(Time now) {
  if (!rate_begin_ || now <= rate_begin_->time) return;
  const auto frames = static_cast<double>(frames_ - rate_begin_->frames);
  frame_rate_ = frames * kSecond / static_cast<double>(now - rate_begin_->time);
}

Interval Camera::close() {
  interval_ = accumulator_.finish(accumulator_.begin() + length_);
  points_.push_back({interval_->time, static_cast<float>(interval_->mean),
                     static_cast<float>(interval_->p1), static_cast<float>(interval_->p99)});
  if (points_.size() > kPoints) points_.pop_front();
  return *interval_;
}

void Camera::note(const std::vector<Change> &changes) {
  for (const Change &change : changes) {
    if (change.raised) ++raised_[static_cast<size_t>(change.verdict)];
    changes_.push_back(change);
  }
}

}  // namespace luminance
