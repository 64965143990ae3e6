// SPDX-License-Identifier: LGPL-2.1-or-later
// The histogram of an interval, as its frames come, and the message that is made of it.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "kernels/histogram.h"

namespace cudatensor {

/// When a frame is shown; GST_CLOCK_TIME_NONE where that is not known.
struct FrameTime {
  GstClockTime timestamp, stream_time, running_time, duration;
  bool reversed = false;  ///< in a segment of negative rate: later frames have lower timestamps
};

/// The highest bin that counts as black and the lowest that counts as white.
struct ClipLevels {
  int black, white;
};

/// Frames in a row that were counted together.
struct CountedFrames {
  guint frames = 0;
  FrameTime first = {}, last = {};
  ClipLevels levels = {};
  std::optional<Rect> roi;  ///< what was counted of them, clipped to the frame; nothing: all

  /// More of the same, which come later.
  void add(const CountedFrames &more);
};

/// The frames that one message sums up, as they pass.
class HistogramInterval {
 public:
  /// Whether a frame belongs to it: its timestamp lies less than `length` nanoseconds behind the
  /// first one's, in the direction of playback, and the same region of it is counted. True where
  /// there is none yet.
  bool takes(const FrameTime &frame, guint64 length, const std::vector<int> &roi) const;
  void add(const FrameTime &frame, const std::vector<int> &roi);
  void end() { empty_ = true; }

 private:
  bool empty_ = true;
  GstClockTime begin_ = 0;
  bool reversed_ = false;
  std::vector<int> roi_;
};

/// Sums what was counted of an interval's frames.
class HistogramAccumulator {
 public:
  bool empty() const { return counted_.frames == 0; }

  /// The message tells the first frames' region.
  void add(const Bins &bins, const CountedFrames &counted);

  /// The message of what was added, and a new start.
  GstStructure *take();
  void discard();

 private:
  GstClockTime duration() const;

  CountedFrames counted_;
  Bins bins_ = {};
  uint64_t black_ = 0, white_ = 0;  // as counted: a caps change moves the levels
};

}  // namespace cudatensor
