// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells the backlog of a live camera from a camera whose frames are always late.
#pragma once

#include <gst/gst.h>

#include <optional>

namespace cudatensor {

/// How much later than its batch a frame may be. Networks and decoders hold frames up by less.
constexpr GstClockTime kLateTolerance = 300 * GST_MSECOND;

/// A camera that was held up sends its old frames at once and then catches up: those frames must
/// not be shown beside new ones of other cameras. A camera whose clock is wrong, or whose latency
/// upstream does not know, is as late with every frame: its frames are used as they come. Which of
/// the two it is shows after a moment, because only the frames of a backlog become younger. Ages
/// are times of the clock since the frame's running time.
class CameraLag {
 public:
  /// For a frame that is too late for its batch: whether it is not to be used. `window` is that of
  /// the batch, `now` the clock's time.
  bool drops(GstClockTime age, GstClockTime window, GstClockTime now);
  /// For a frame that is used in its own batch.
  void in_time(GstClockTime age);

  /// Whether the camera's frames are used although they are late.
  bool is_behind() const { return is_behind_; }

 private:
  /// Frames of an unusual age, one after the other.
  struct Run {
    GstClockTime begin;  // by the clock
    GstClockTime age;    // the least, within the tolerance
  };

  GstClockTime usual_ = 0;
  bool is_behind_ = false;
  std::optional<Run> run_;
};

}  // namespace cudatensor
