// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of one camera. Main thread only.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings/settings.h"
#include "watch/maintenance.h"
#include "watch/measurement.h"
#include "watch/reference.h"
#include "watch/verdicts.h"

namespace luminance {

enum class Status {
  kConnecting,  // no frame yet since the connection was started
  kPlaying,
  kWaiting,  // the connection was lost and will be tried again
  kEnded,    // a file that has ended
};
std::string_view name_of(Status status);  // "connecting", "playing", "waiting", "ended"

/// A point of the chart of the last minutes.
struct Point {
  Time time;
  float mean, p1, p99;
};

class Camera {
 public:
  /// Points of the last quarter of an hour, at an interval of one second.
  static constexpr size_t kPoints = 900;

  Camera(const CameraSettings &settings, double interval, Time now);

  const CameraSettings &settings() const { return settings_; }
  const std::string &id() const { return settings_.id; }      // unique; letters of any script
  const std::string &name() const { return settings_.name; }  // any text; untrusted

  Status status() const { return status_; }
  Time status_since() const { return status_since_; }
  /// Why the connection was lost, without credentials. Empty while it plays.
  const std::string &error() const { return error_; }

  uint64_t frames() const { return frames_; }
  uint64_t reconnects() const { return reconnects_; }
  std::optional<Time> last_frame() const { return last_frame_; }
  /// Frames per second in the last interval; 0 without frames.
  double frame_rate() const { return frame_rate_; }

  /// The latest complete interval of this connection, while frames arrive.
  const std::optional<Interval> &interval() const { return interval_; }
  const std::deque<Point> &points() const { return points_; }
  std::vector<Standing> standing() const { return judge_.standing(); }
  /// The rules in force.
  const Rules &rules() const { return judge_.rules(); }
  bool has_schedule() const;
  Sight sight_of(Verdict verdict) const { return judge_.sight_of(verdict); }
  bool is_silent() const { return judge_.is_silent(); }
  /// How often each verdict was raised.
  uint64_t times_raised(Verdict verdict) const { return raised_[static_cast<size_t>(verdict)]; }

  /// Empty if nobody works on the camera.
  const std::optional<Maintenance> &maintenance() const { return maintenance_; }

  /// When the scene that the camera is meant to look at was learned, if it is known.
  std::optional<Time> scene_learned() const { return judge_.scenery().learned(); }
  /// The same in milliseconds since 1970, by the wall clock at the time, which may have been set.
  const std::optional<int64_t> &reference_time() const { return reference_time_; }
  /// A number that changes whenever the reference changes or is forgotten.
  uint64_t reference_version() const { return judge_.scenery().version() + pictures_kept_; }
  /// The whole reference, if there is one.
  std::optional<Reference> reference() const;
  /// A JPEG of the time when the reference was learned, or null.
  const std::shared_ptr<const std::string> &reference_picture() const { return reference_picture_; }

  // Input, for Monitor.
  void set_maintenance(std::optional<Maintenance> maintenance) {
    maintenance_ = std::move(maintenance);
  }
  void renew_scene(Time now);
  /// The reference's scenes must be sound. `learned`: when it was learned, as far as is known.
  void restore_reference(const Reference &reference, Time learned, Time now);
  void set_reference_time(int64_t time) { reference_time_ = time; }
  void keep_reference_picture(const std::shared_ptr<const std::string> &jpeg);
  /// Returns the interval that this frame completes, if any. An interval begins with its first
  /// frame and includes frames that are less than its length later. `listening_time` is the time
  /// during which the program could receive frames: while it was busy or stopped, the camera does
  /// not count as silent.
  std::optional<Interval> take(const Measurement &frame, Time listening_time);
  std::optional<Interval> take(const Measurement &frame) { return take(frame, frame.time); }
  /// Completes an interval that no frame has completed.
  std::optional<Interval> tick(Time now, Time listening_time);
  std::optional<Interval> tick(Time now) { return tick(now, now); }
  /// Puts the rules of this minute of the day in force. Returns whether the rules changed.
  bool set_minute(unsigned minute, Time now);
  /// Replaces the rules and schedules from now on. `minute`: the minute of the day.
  void set_rules(const Rules &rules, const Schedules &schedules, unsigned minute, Time now);
  /// The program was stopped for long: silence is measured from now on.
  void reset_silence(Time listening_time);
  /// Completes the current interval, if there is one.
  std::optional<Interval> finish();
  std::optional<Interval> set_status(Status status, Time now, const std::string &error);
  std::vector<Change> take_changes();

 private:
  struct Begin {
    Time time;
    uint64_t frames;  // number of frames before it
  };

  void measure_rate(Time now);
  Interval close();
  void note(const std::vector<Change> &changes);

  CameraSettings settings_;
  const Time length_;  // of an interval
  const Time still_;   // time without a frame after which nothing is known of the picture
  Status status_ = Status::kConnecting;
  Time status_since_;
  std::string error_;
  uint64_t frames_ = 0, reconnects_ = 0;
  std::optional<Time> last_frame_;
  Time last_heard_;  // `listening_time` of the last frame
  double frame_rate_ = 0;
  std::optional<Begin> rate_begin_;  // of the interval over which the rate is measured
  std::optional<Interval> interval_;
  Accumulator accumulator_;
  std::deque<Point> points_;
  std::array<uint64_t, kVerdicts> raised_ = {};
  std::vector<Change> changes_;
  Judge judge_;
  std::shared_ptr<const std::string> reference_picture_;
  std::optional<int64_t> reference_time_;
  uint64_t pictures_kept_ = 0;
  std::optional<Maintenance> maintenance_;
  std::optional<unsigned> minute_;  // of the day, whose rules are in force
};

}  // namespace luminance
