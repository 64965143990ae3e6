// SPDX-License-Identifier: LGPL-2.1-or-later
// Distinguishes the backlog of a live camera from a camera whose frames are always late.
#pragma once

#include <gst/gst.h>

#include <optional>

namespace cudatensor {

/// Maximum delay of a frame relative to its batch. Networks and decoders delay frames by less.
constexpr GstClockTime kLateTolerance = 300 * GST_MSECOND;

/// A camera that was delayed sends its old frames at once and then catches up; those frames must
/// not be in a batch with new frames of other cameras. A camera whose clock is wrong, or whose
/// latency upstream does not know, is equally late with every frame; its frames are used as they
/// come. The two cases can be told apart after a moment, because only the frames of a backlog
/// become younger. The age of a frame is the clock's time minus the frame's running time.
class CameraLag {
 public:
  /// Returns whether a frame that is too late for its batch must be dropped. `window` is the window
  /// of the batch, `now` the clock's time.
  bool drops(GstClockTime age, GstClockTime window, GstClockTime now);
  /// Records the age of a frame that is used in its own batch.
  void in_time(GstClockTime age);

  /// Returns whether the camera's frames are used although they are late.
  bool is_behind() const { return is_behind_; }

 private:
  /// Consecutive frames of an unusual age.
  struct Run {
    GstClockTime begin;  // the clock's time
    GstClockTime age;    // the lowest age, within the tolerance
  };

  GstClockTime usual_ = 0;
  bool is_behind_ = false;
  std::optional<Run> run_;
};

}  // namespace cudatensor
