// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which frames of several cameras form a batch.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

namespace cudatensor {

/// Assigns each frame to exactly one batch. A batch has at most one frame of each camera, and the
/// frames of a camera stay in order. A batch starts with the earliest waiting frame and includes
/// the frames less than the window after it, so that cameras of the same frame rate are all in
/// every batch, whatever their phase, and slower cameras are in some. A frame that arrives after
/// its batch was made is late and joins the next one. No two batches have the same start. All times
/// are running times in ns; a frame without one joins any batch.
class BatchSchedule {
 public:
  /// The times of the frames at the head of each camera's queue.
  using Heads = std::vector<GstClockTime>;

  void set_window(GstClockTime window) { window_ = window; }
  GstClockTime window() const { return window_; }

  /// Returns the start time of the next batch; no value if no frame is waiting. `now` may be
  /// GST_CLOCK_TIME_NONE.
  std::optional<GstClockTime> next_start(const Heads &heads, GstClockTime now) const;
  bool joins(GstClockTime time, GstClockTime start) const;
  /// Returns whether the batch that this frame belongs to has already been made.
  bool is_late(GstClockTime time) const;

  void begun(GstClockTime start) { last_start_ = start; }
  /// Called after a flush or a new start, when running time restarts.
  void reset() { last_start_.reset(); }

 private:
  GstClockTime window_ = 0;
  std::optional<GstClockTime> last_start_;
};

}  // namespace cudatensor
