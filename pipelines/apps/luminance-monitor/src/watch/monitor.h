// SPDX-License-Identifier: LGPL-2.1-or-later
// All cameras, and who wants to know of them. Main thread only.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "watch/camera.h"
#include "watch/clock.h"
#include "watch/time.h"

namespace luminance {

/// The camera is as after the change when these are called.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_interval(const Camera &, const Interval &) {}
  virtual void on_change(const Camera &, const Change &) {}
  virtual void on_status(const Camera &) {}
  virtual void on_added(const Camera &) {}
  /// Nothing more will be heard of it.
  virtual void on_removed(const Camera &) {}
};

class Monitor {
 public:
  Monitor(const Settings &settings, Clock &clock);

  const Clock &clock() const { return clock_; }
  /// Seconds.
  double interval() const { return interval_; }
  const std::vector<std::unique_ptr<Camera>> &cameras() const { return cameras_; }
  const Camera *camera(std::string_view id) const;  // null: there is none
  /// Cameras are numbered from 0; one that is added gets a number that no other had.
  const Camera &camera_of(size_t number) const { return *by_number_.at(number); }
  size_t number_of(const Camera &camera) const;
  /// The observer outlives the monitor, or its use.
  void add(Observer &observer) { observers_.push_back(&observer); }

  // What the sources say.
  void take(size_t camera, const Measurement &frame);
  void set_status(size_t camera, Status status, const std::string &error = {});
  /// A few times a second.
  void tick();
  /// Nothing comes any more: ends the intervals under way.
  void finish();

  // Other settings. What a camera leaves behind is told before it is removed.
  /// Returns its number.
  size_t add(const CameraSettings &settings);
  void remove(size_t camera);
  /// Has the cameras in this order.
  void arrange(const std::vector<CameraSettings> &order);

 private:
  void listen();
  void tell(Camera &camera, const std::optional<Interval> &interval);

  Clock &clock_;
  // The time in which this program ran and could take frames: the clock without the gaps.
  Time looked_, listened_;
  const double interval_;
  std::vector<std::unique_ptr<Camera>> cameras_;
  std::unordered_map<size_t, Camera *> by_number_;
  size_t next_number_ = 0;
  std::vector<Observer *> observers_;
};

}  // namespace luminance
