// SPDX-License-Identifier: LGPL-2.1-or-later
// The histogram of an interval, as its frames come, and the message that is made of it.
#pragma once

#include <gst/gst.h>

#include <optional>

#include "kernels/histogram.h"

namespace cudatensor {

/// When a frame is shown; GST_CLOCK_TIME_NONE where that is not known.
struct FrameTime {
  GstClockTime timestamp, stream_time, running_time, duration;
};

/// The highest bin that counts as black and the lowest that counts as white.
struct ClipLevels {
  int black, white;
};

class HistogramAccumulator {
 public:
  bool empty() const { return frames_ == 0; }

  /// Whether a frame belongs to the interval under way: it begins less than `interval`
  /// nanoseconds after the first one. True where there is none yet.
  bool takes(const FrameTime &frame, guint64 interval) const;

  /// `roi` is what was counted of the frame, nothing for all of it; the message tells the first
  /// frame's.
  void add(const Bins &bins, ClipLevels levels, const FrameTime &frame,
           const std::optional<Rect> &roi);

  /// The message of what was added, and a new start.
  GstStructure *take();
  void discard();

 private:
  GstClockTime duration() const;

  guint frames_ = 0;
  Bins bins_ = {};
  uint64_t black_ = 0, white_ = 0;  // counted frame by frame: a caps change moves the levels
  FrameTime first_ = {}, last_ = {};
  std::optional<Rect> roi_;
};

}  // namespace cudatensor
