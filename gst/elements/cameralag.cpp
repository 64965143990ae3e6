// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/cameralag.h"

#include <algorithm>

namespace cudatensor {
namespace {

/// Time that a late camera has to catch up before its lateness counts as usual.
constexpr GstClockTime kPatience = GST_SECOND;

bool differ(GstClockTime a, GstClockTime b, GstClockTime tolerance) {
  return std::max(a, b) - std::min(a, b) > tolerance;
}

}  // namespace

bool CameraLag::drops(GstClockTime age, GstClockTime window, GstClockTime now) {
  const GstClockTime tolerance = std::max(kLateTolerance, window);
  if (!differ(age, usual_, tolerance)) {
    run_.reset();
    return false;
  }
  if (!run_ || age + tolerance < run_->age) run_ = {now, age};
  // A window longer than kPatience needs a longer run: a single frame does not show whether the
  // camera catches up.
  if (now - run_->begin < std::max(kPatience, 2 * window)) return true;
  usual_ = age;
  is_behind_ = true;
  run_.reset();
  return false;
}

void CameraLag::in_time(GstClockTime age) {
  usual_ = age;
  is_behind_ = false;
  run_.reset();
}

}  // namespace cudatensor
