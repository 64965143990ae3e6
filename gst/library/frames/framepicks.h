// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames that the stage before the decoder has picked, for the stage after it.
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>

#include "gst/library/frames/framechooser.h"

namespace cudatensor {

/// Used by the streaming threads on both sides of the decoder.
class FramePicks {
 public:
  void add(StreamTime time, guint64 times) {
    if (times == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    picks_.push_back({time, times});
    total_ += times;
  }
  /// Returns how many frames were picked.
  guint64 total() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return total_;
  }
  /// Returns how many times the frame with this timestamp was picked. Timestamps may go back.
  guint64 take(StreamTime time) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(picks_.begin(), picks_.end(),
                                    [&](const Pick &pick) { return pick.time == time; });
    if (found == picks_.end()) return 0;
    const guint64 times = found->times;
    const auto next = picks_.erase(found);
    if (next - picks_.begin() > kMostReordered) picks_.erase(picks_.begin(), next - kMostReordered);
    return times;
  }

 private:
  /// Picks this far before one whose frame has arrived are dropped: the decoder has not output
  /// their frames.
  static constexpr std::ptrdiff_t kMostReordered = 64;

  struct Pick {
    StreamTime time;
    guint64 times;
  };

  mutable std::mutex mutex_;
  guint64 total_ = 0;
  std::deque<Pick> picks_;  // in the order in which the frames are shown
};

}  // namespace cudatensor
