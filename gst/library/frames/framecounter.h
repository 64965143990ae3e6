// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts the frames of a source before some of them are chosen.
#pragma once

#include <functional>
#include <vector>

#include "gst/library/frames/framechooser.h"

namespace cudatensor {

/// Filled by the first stage that knows the frames: the one before the decoder, if it can tell
/// them.
class FrameCounter {
 public:
  /// `on_end` is called by a streaming thread.
  explicit FrameCounter(std::function<void()> on_end) : on_end_(std::move(on_end)) {}

  void add(std::optional<StreamTime> time) {
    ++count_;
    if (time) times_.push_back(*time);
  }
  void end() { on_end_(); }

  /// Selects `wanted` frames, evenly spread.
  void select(guint64 wanted, FrameSelection &selection) const {
    using Kind = FrameSelection::Kind;
    const std::vector<guint64> numbers = spread_evenly(count_, wanted);
    const bool has_times = times_.size() == count_;
    selection.kind = has_times ? Kind::times : Kind::positions;
    if (!has_times) selection.positions = numbers;
    if (has_times)
      for (const guint64 number : numbers) selection.times.push_back(times_[number]);
  }

 private:
  std::function<void()> on_end_;
  guint64 count_ = 0;
  std::vector<StreamTime> times_;
};

}  // namespace cudatensor
