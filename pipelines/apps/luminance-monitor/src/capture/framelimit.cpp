// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/framelimit.h"

#include <algorithm>

namespace luminance {

Time time_of(GstBuffer *frame) {
  const GstClockTime pts = GST_BUFFER_PTS(frame);
  return GST_CLOCK_TIME_IS_VALID(pts) ? static_cast<Time>(pts / GST_USECOND)
                                      : g_get_monotonic_time();
}

bool FrameLimit::takes(Time time) {
  // Timestamps jitter, but a camera with exactly this rate must keep all of its frames.
  const Time early = gap_ / 4;
  const bool goes_back = time < next_ - 2 * gap_;
  if (began_ && !goes_back && time < next_ - early) return false;
  // The next time is on schedule, so that the rate is kept, but at most one frame behind.
  next_ = (began_ && !goes_back ? std::max(next_, time - gap_) : time) + gap_;
  began_ = true;
  return true;
}

}  // namespace luminance
