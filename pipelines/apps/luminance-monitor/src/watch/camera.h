// SPDX-License-Identifier: LGPL-2.1-or-later
// What is known of one camera. Main thread only.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "settings/settings.h"
#include "watch/measurement.h"
#include "watch/verdicts.h"

namespace luminance {

enum class Status {
  kConnecting,  // no frame yet since it was begun
  kPlaying,
  kWaiting,  // lost; begins again in a while
  kEnded,    // a file that is over
};
std::string_view name_of(Status status);  // "connecting", "playing", "waiting", "ended"

/// A point of the sparkline.
struct Point {
  Time time;
  float mean, p1, p99;
};

class Camera {
 public:
  /// The last quarter of an hour at an interval of a second.
  static constexpr size_t kPoints = 900;

  Camera(const CameraSettings &settings, double interval, Time now);

  const CameraSettings &settings() const { return settings_; }
  const std::string &id() const { return settings_.id; }      // unique; any script's letters
  const std::string &name() const { return settings_.name; }  // any text, from outside

  Status status() const { return status_; }
  Time status_since() const { return status_since_; }
  /// Why it was lost, without credentials. Empty while it plays.
  const std::string &error() const { return error_; }

  uint64_t frames() const { return frames_; }
  uint64_t reconnects() const { return reconnects_; }
  std::optional<Time> last_frame() const { return last_frame_; }
  /// Frames a second over the last interval; 0 where none come.
  double frame_rate() const { return frame_rate_; }

  /// The latest whole interval, if there was one since it was begun and frames still come.
  const std::optional<Interval> &interval() const { return interval_; }
  const std::deque<Point> &points() const { return points_; }
  std::vector<Standing> standing() const { return judge_.standing(); }
  /// How often each verdict was raised.
  uint64_t times_raised(Verdict verdict) const { return raised_[static_cast<size_t>(verdict)]; }

  // What happens to it; for Monitor.
  /// Returns the interval that the frame ended, if it did. An interval begins with its first frame
  /// and takes those that come less than its length later.
  /// `listened` is the time in which the program could take frames: a frame that comes late, as the
  /// program was busy or stopped, is none that the camera did not give.
  std::optional<Interval> take(const Measurement &frame, Time listened);
  std::optional<Interval> take(const Measurement &frame) { return take(frame, frame.time); }
  /// Ends an interval that no frame has ended.
  std::optional<Interval> tick(Time now, Time listened);
  std::optional<Interval> tick(Time now) { return tick(now, now); }
  /// The program was away for long: a silence begins now.
  void wait_anew(Time listened);
  /// Ends the one under way, if there is one.
  std::optional<Interval> finish();
  std::optional<Interval> set_status(Status status, Time now, const std::string &error);
  std::vector<Change> take_changes();

 private:
  struct Begin {
    Time time;
    uint64_t frames;  // before it
  };

  void measure_rate(Time now);
  Interval close();
  void note(const std::vector<Change> &changes);

  const CameraSettings settings_;
  const Time length_;  // of an interval
  Status status_ = Status::kConnecting;
  Time status_since_;
  std::string error_;
  uint64_t frames_ = 0, reconnects_ = 0;
  std::optional<Time> last_frame_;
  Time heard_;  // `listened` of the last frame
  double frame_rate_ = 0;
  std::optional<Begin> rate_begin_;  // of the interval that the rate is measured over
  std::optional<Interval> interval_;
  Accumulator accumulator_;
  std::deque<Point> points_;
  std::array<uint64_t, kVerdicts> raised_ = {};
  std::vector<Change> changes_;
  Judge judge_;
};

}  // namespace luminance
