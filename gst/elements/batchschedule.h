// SPDX-License-Identifier: LGPL-2.1-or-later
// Which frames of several cameras make one batch.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

namespace cudatensor {

/// Every frame goes into one batch, at most one of each camera, in the order of each camera. A batch
/// begins with the earliest frame and takes those that lie less than the window after it, so that
/// cameras of one rate meet in every batch, whatever their phase, and a slower one is in some. What
/// comes after its batch has gone is late, and goes with the next. All times are running times in
/// ns; a frame without one joins any batch.
class BatchSchedule {
 public:
  /// The first frames that wait, of each camera at most one.
  using Heads = std::vector<GstClockTime>;

  void set_window(GstClockTime window) { window_ = window; }
  GstClockTime window() const { return window_; }

  /// When the next batch of these begins; nothing where no frame waits. `now` may be none.
  std::optional<GstClockTime> next_start(const Heads &heads, GstClockTime now) const;
  bool joins(GstClockTime time, GstClockTime start) const;
  /// Whether the batch of this frame has gone.
  bool is_late(GstClockTime time) const;

  void begun(GstClockTime start) { last_start_ = start; }
  /// Time begins anew.
  void reset() { last_start_.reset(); }

 private:
  GstClockTime window_ = 0;
  std::optional<GstClockTime> last_start_;
};

}  // namespace cudatensor
