// SPDX-License-Identifier: LGPL-2.1-or-later
// The connections to a camera, one after the other: when one fails, ends or becomes silent, the
// next one is started after a growing delay. Main thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "capture/connection.h"
#include "watch/monitor.h"

namespace luminance {

class Source {
 public:
  /// Takes the last frame of a connection that is over, and owns it.
  using Keep = std::function<void(GstSample *)>;

  /// `index`: the number of the camera in the monitor, which must outlive the source.
  Source(const Settings &settings, Monitor &monitor, Inbox &inbox, size_t index, Keep keep);

  void begin();
  /// Call a few times per second.
  void tick();
  void arrive(const Arrival &arrival);

  /// Whether a file has ended or failed.
  bool is_finished() const { return finished_; }
  bool has_failed() const { return failed_; }
  /// The latest frame, or null. The caller owns it.
  GstSample *sample() const;

 private:
  Time first_frame_timeout() const;
  bool is_silent(Time now) const;
  Time max_silence() const;
  void disconnect(const std::string &why);
  void end();
  void finish(const std::string &why);
  void close();

  const Settings &settings_;
  Monitor &monitor_;
  Inbox &inbox_;
  const size_t index_;
  const Keep keep_;
  const CameraSettings &camera_;
  const bool is_file_, may_be_picture_;

  std::unique_ptr<Connection> connection_;
  unsigned tries_ = 0;                       // connections so far
  uint64_t frames_ = 0;                      // of this connection
  std::optional<Measurement> single_frame_;  // its only frame so far, which may be a single picture
  Time started_ = 0;                         // monotonic: start of the connection
  Time last_heard_ = 0;                      // monotonic: latest frame, or start of the connection
  Time ticked_ = 0;                          // monotonic
  Time first_ = 0;                           // monotonic: first frame of the connection
  Time retry_time_ = 0;                      // monotonic: next attempt, without a connection
  Time resume_;                              // the earliest time of the next frame
  double pause_ = 0;                         // seconds before the last attempt
  bool finished_ = false, failed_ = false;
  std::minstd_rand random_;
};

}  // namespace luminance
