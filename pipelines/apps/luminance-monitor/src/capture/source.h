// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera's connections, one after the other: it is begun again when it fails, ends or falls
// silent, after a while that grows. Main thread only.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "capture/connection.h"
#include "watch/monitor.h"

namespace luminance {

class Source {
 public:
  /// Of the monitor's camera of this number, which outlives it.
  Source(const Settings &settings, Monitor &monitor, Inbox &inbox, size_t index);

  void begin();
  /// A few times a second.
  void tick();
  void arrive(const Arrival &arrival);

  /// A file that was read to its end, or could not be.
  bool is_over() const { return over_; }
  bool has_failed() const { return failed_; }
  /// The latest frame, or null. The caller owns it.
  GstSample *sample() const;

 private:
  Time patience() const;
  bool is_silent(Time now) const;
  void lose(const std::string &why);
  void end();
  void finish(const std::string &why);

  const Settings &settings_;
  Monitor &monitor_;
  Inbox &inbox_;
  const size_t index_;
  const CameraSettings &camera_;
  const bool is_file_, is_http_;
  const Time silence_;  // after which it is begun again

  std::unique_ptr<Connection> connection_;
  unsigned tries_ = 0;               // connections, ever
  uint64_t frames_ = 0;              // of this connection
  std::optional<Measurement> only_;  // its only frame, while that may be a picture of its own
  Time begun_ = 0;                   // monotonic: the connection's begin
  Time heard_ = 0;                   // monotonic: the latest frame, or the connection's begin
  Time ticked_ = 0;                  // monotonic
  Time first_ = 0;                   // monotonic: the connection's first frame
  Time again_ = 0;                   // monotonic: when to try, where there is no connection
  Time resume_;                      // fast: when its next frame comes, by the time of frames
  double pause_ = 0;                 // seconds before the last try
  bool over_ = false, failed_ = false;
  std::minstd_rand random_;
};

}  // namespace luminance
