// SPDX-License-Identifier: LGPL-2.1-or-later
// Accumulates the histogram of an interval and creates its element message.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "kernels/histogram.h"

namespace cudatensor {

/// The times of a frame; GST_CLOCK_TIME_NONE if unknown.
struct FrameTime {
  GstClockTime timestamp, stream_time, running_time, duration;
  bool reversed = false;  ///< the segment's rate is negative: later frames have lower timestamps
};

/// The highest bin that counts as black and the lowest that counts as white.
struct ClipLevels {
  int black, white;
};

/// Consecutive frames whose counts were summed.
struct CountedFrames {
  guint frames = 0;
  FrameTime first = {}, last = {};
  ClipLevels levels = {};
  std::optional<Rect> roi;  ///< the counted region, clipped to the frame; no value: the whole frame

  /// Appends frames that follow these.
  void add(const CountedFrames &more);
};

/// Tracks which frames belong to the current interval.
class HistogramInterval {
 public:
  /// Returns whether a frame belongs to the current interval: its timestamp is less than `length`
  /// nanoseconds after the first frame's, in the direction of playback, and its region is the same.
  /// True if the interval is empty.
  bool takes(const FrameTime &frame, guint64 length, const std::vector<int> &roi) const;
  void add(const FrameTime &frame, const std::vector<int> &roi);
  void end() { empty_ = true; }

 private:
  bool empty_ = true;
  GstClockTime begin_ = 0;
  bool reversed_ = false;
  std::vector<int> roi_;
};

/// Sums the counts of an interval's frames.
class HistogramAccumulator {
 public:
  bool empty() const { return counted_.frames == 0; }

  /// Adds counts. The message will contain the region of the first frames.
  void add(const Bins &bins, const CountedFrames &counted);

  /// Creates the message from the accumulated counts, then resets them.
  GstStructure *take();
  void discard();

 private:
  GstClockTime duration() const;

  CountedFrames counted_;
  Bins bins_ = {};
  uint64_t black_ = 0, white_ = 0;  // counted separately, because new caps can change the levels
};

}  // namespace cudatensor
