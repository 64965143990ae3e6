// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of what cameras are meant to look at, taken when it has been learned. Main thread only.
#pragma once

#include <memory>
#include <unordered_set>

#include "capture/still.h"
#include "watch/monitor.h"

namespace luminance {

/// Gives them to the monitor, which outlives the stills.
class References {
 public:
  References(Monitor &monitor, Stills &stills) : monitor_(monitor), stills_(stills) {}

  /// Call when a camera has changed, again and again: for a moment, it may have no picture.
  void note(const Camera &camera);
  void remove(const Camera &camera) { asked_->erase(&camera); }

 private:
  using Asked = std::unordered_set<const Camera *>;

  Monitor &monitor_;
  Stills &stills_;
  const std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();  // for a picture that is made
};

}  // namespace luminance
