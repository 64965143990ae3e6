// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of what cameras are meant to look at, taken when it has been learned. Main thread only.
#pragma once

#include <unordered_map>

#include "capture/still.h"
#include "watch/monitor.h"

namespace luminance {

/// Gives them to the monitor, which outlives the stills.
class References {
 public:
  References(Monitor &monitor, Stills &stills) : monitor_(monitor), stills_(stills) {}

  /// Call when a camera has changed.
  void note(const Camera &camera);
  void remove(const Camera &camera) { asked_.erase(&camera); }

 private:
  Monitor &monitor_;
  Stills &stills_;
  std::unordered_map<const Camera *, Time> asked_;  // for the picture of what was learned then
};

}  // namespace luminance
