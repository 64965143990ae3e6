// SPDX-License-Identifier: LGPL-2.1-or-later
// All cameras, and who wants to know of them. Main thread only.
#pragma once

#include <memory>
#include <vector>

#include "camera.h"
#include "time.h"

namespace luminance {

/// The camera is as after the change when these are called.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_interval(const Camera &, const Interval &) {}
  virtual void on_change(const Camera &, const Change &) {}
  virtual void on_status(const Camera &) {}
};

class Monitor {
 public:
  Monitor(const Settings &settings, Clock &clock);

  const Clock &clock() const { return clock_; }
  /// Seconds.
  double interval() const { return interval_; }
  const std::vector<std::unique_ptr<Camera>> &cameras() const { return cameras_; }
  const Camera *camera(std::string_view id) const;  // null: there is none
  /// The observer outlives the monitor, or its use.
  void add(Observer &observer) { observers_.push_back(&observer); }

  // What the sources say.
  void take(size_t camera, const Measurement &frame);
  void set_status(size_t camera, Status status, const std::string &error = {});
  /// A few times a second.
  void tick();
  /// Nothing comes any more: ends the intervals under way.
  void finish();

 private:
  void listen();
  void tell(Camera &camera, const std::optional<Interval> &interval);

  Clock &clock_;
  // The time in which this program ran and could take frames: the clock without the gaps.
  Time looked_, listened_;
  const double interval_;
  std::vector<std::unique_ptr<Camera>> cameras_;
  std::vector<Observer *> observers_;
};

}  // namespace luminance
