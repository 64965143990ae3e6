// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames that were chosen before the decoder, for the stage behind it.
#pragma once

#include <deque>
#include <mutex>
#include <optional>

#include "gst/library/framechooser.h"

namespace cudatensor {

/// Used by the streaming threads on both sides of the decoder.
class FramePicks {
 public:
  void add(StreamTime time, guint64 times) {
    const std::lock_guard<std::mutex> lock(mutex_);
    picks_.insert(picks_.end(), times, time);
  }
  /// How many times the frame with this timestamp was picked. Forgets the picks before, whose frames
  /// the decoder has not given.
  guint64 take(StreamTime time) {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (!picks_.empty() && picks_.front() < time) picks_.pop_front();
    guint64 times = 0;
    for (; !picks_.empty() && picks_.front() == time; picks_.pop_front()) ++times;
    return times;
  }

 private:
  std::mutex mutex_;
  std::deque<StreamTime> picks_;  // ascending
};

}  // namespace cudatensor
