// SPDX-License-Identifier: LGPL-2.1-or-later
// Light on 50 or 60 Hz mains brightens and darkens 100 or 120 times a second. A camera that takes
// fewer pictures sees it slower: the means of its frames swing at the difference to the nearest
// multiple of its frame rate.
#pragma once

#include <deque>

#include "watch/time.h"

namespace luminance {

class Flicker {
 public:
  void add(Time time, double mean);
  void clear() { samples_.clear(); }
  /// The amplitude of the swing in percent of the mean; 0 where there is none, or where the frame
  /// rate does not let it be seen.
  double percent() const;

 private:
  struct Sample {
    Time time;
    double mean;
  };

  double usual_gap() const;  // microseconds

  std::deque<Sample> samples_;  // of the last seconds
};

}  // namespace luminance
