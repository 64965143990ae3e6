// SPDX-License-Identifier: LGPL-2.1-or-later
// All cameras, and the observers of their changes. Main thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "watch/camera.h"
#include "watch/clock.h"
#include "watch/time.h"

namespace luminance {

/// Called after the camera has changed.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_interval(const Camera &, const Interval &) {}
  virtual void on_change(const Camera &, const Change &) {}
  virtual void on_status(const Camera &) {}
  /// Other rules are in force, or the rules have another schedule.
  virtual void on_rules(const Camera &) {}
  /// Maintenance has begun, has changed or is over.
  virtual void on_maintenance(const Camera &) {}
  virtual void on_added(const Camera &) {}
  /// The last call for this camera.
  virtual void on_removed(const Camera &) {}
};

class Monitor {
 public:
  Monitor(const Settings &settings, Clock &clock);

  const Clock &clock() const { return clock_; }
  /// Seconds of an interval.
  double interval() const { return interval_; }
  const std::vector<std::unique_ptr<Camera>> &cameras() const { return cameras_; }
  const Camera *camera(std::string_view id) const;  // null: no such camera
  /// Cameras are numbered from 0; an added camera gets a number that was never used.
  const Camera &camera_of(size_t number) const { return *by_number_.at(number); }
  size_t number_of(const Camera &camera) const;
  /// The observer must outlive the monitor.
  void add(Observer &observer) { observers_.push_back(&observer); }

  // Input from the sources.
  void take(size_t camera, const Measurement &frame);
  void set_status(size_t camera, Status status, const std::string &error = {});
  /// Learns anew what the camera is meant to look at: what it sees now.
  void renew_scene(size_t camera);
  /// Restores what the camera was meant to look at before the monitor was started.
  void restore_reference(size_t camera, const Reference &reference);
  /// Keeps a JPEG of what the camera saw when its scene was learned. Ignored if `learned` is not
  /// the time at which the present scene was learned.
  void keep_reference_picture(size_t camera, Time learned,
                              const std::shared_ptr<const std::string> &jpeg);
  /// Begins or changes maintenance; ends it if empty. Maintenance continues when the camera is
  /// removed and added again.
  void set_maintenance(size_t camera, const std::optional<Maintenance> &maintenance);
  /// Call a few times per second.
  void tick();
  /// No more frames will arrive: completes the current intervals.
  void finish();

  // Changes of the settings. Observers get the last interval of a camera before it is removed.
  /// Returns the number of the camera.
  size_t add(const CameraSettings &settings);
  void remove(size_t camera);
  /// Changes the rules of a camera that stays connected. Verdicts that stand are judged by the new
  /// rules.
  void set_rules(size_t camera, const Rules &rules, const Schedules &schedules);
  /// Puts the cameras into this order.
  void set_order(const std::vector<CameraSettings> &order);

 private:
  void listen();
  void put_rules_in_force(Camera &camera, Time time);
  void end_maintenance();
  void tell(Camera &camera, const std::optional<Interval> &interval);

  Clock &clock_;
  // Listening time: the time during which the program could receive frames, the clock without gaps.
  Time last_check_, listening_time_;
  const double interval_;
  std::vector<std::unique_ptr<Camera>> cameras_;
  std::unordered_map<size_t, Camera *> by_number_;
  size_t next_number_ = 0;
  std::unordered_map<std::string, Maintenance> former_maintenance_;  // by id: of removed cameras
  std::vector<Observer *> observers_;
};

}  // namespace luminance
