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
  explicit FrameLimit(unsigned rate) : gap_(kSecond / rate) {}

  /// Whether to take a frame with this time.
  bool takes(Time time);

 private:
  const Time gap_;
  Time next_ = 0;
  bool began_ = false;
};

}  // namespace luminance
