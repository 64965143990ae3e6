// SPDX-License-Identifier: LGPL-2.1-or-later
// Lamps on 50 or 60 Hz mains flicker at 100 or 120 Hz. A camera with a lower frame rate sees an
// alias: the means of its frames swing at the difference to the nearest multiple of the frame rate.
#pragma once

#include <deque>

#include "watch/time.h"

namespace luminance {

class Flicker {
 public:
  void add(Time time, double mean);
  void clear() { samples_.clear(); }
  /// The amplitude of the swing in percent of the mean; 0 without one, or if the frame rate hides
  /// it.
  double percent() const;

 private:
  struct Sample {
    Time time;
    double mean;
  };

  double usual_gap() const;  // microseconds

  std::deque<Sample> samples_;  // the last seconds
};

}  // namespace luminance
