// SPDX-License-Identifier: LGPL-2.1-or-later
// A limit on frames per second.
#pragma once

#include <gst/gst.h>

#include "watch/time.h"

namespace luminance {

/// The timestamp of a frame, which may advance faster than the clock; the clock's time if it has
/// none.
Time time_of(GstBuffer *frame);

class FrameLimit {
 public:
  /// `rate` > 0.
  explicit FrameLimit(unsigned rate) : FrameLimit(Gap{kSecond / rate}) {}
  /// One frame in this time.
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
