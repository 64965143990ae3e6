// SPDX-License-Identifier: LGPL-2.1-or-later
// At most so many frames a second.
#pragma once

#include <gst/gst.h>

#include "watch/time.h"

namespace luminance {

/// The frame's own time, which may go faster than the clock; the clock's where it has none.
Time time_of(GstBuffer *frame);

class FrameLimit {
 public:
  /// `rate` > 0.
  explicit FrameLimit(unsigned rate) : gap_(kSecond / rate) {}

  /// Whether a frame of this time is one of them.
  bool takes(Time time);

 private:
  const Time gap_;
  Time next_ = 0;
  bool began_ = false;
};

}  // namespace luminance
