// SPDX-License-Identifier: LGPL-2.1-or-later
// A limit on frames per second.
#pragma once

#include <gst/gst.h>

#include "watch/time.h"

namespace luminance {

/// Returns the timestamp of a frame, which may advance faster than the clock, or the clock's time
/// if the frame has none.
Time time_of(GstBuffer *frame);

class FrameLimit {
 public:
  /// `rate` > 0.
  explicit FrameLimit(unsigned rate) : FrameLimit(Gap{kSecond / rate}) {}
  /// Takes at most one frame per gap.
  static FrameLimit every(Time gap) { return FrameLimit(Gap{gap}); }

  /// Whether to take a frame with this time.
  bool takes(Time time);

 private:
  struct Gap {
    Time length;
  };
  explicit FrameLimit(Gap gap) : gap_(gap.length) {}

  const Time gap_;
  Time next_ = 0;
  bool began_ = false;
};

}  // namespace luminance
