// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes pictures of a camera's reference, when the camera has learned it. Main thread only.
#pragma once

#include <memory>
#include <unordered_set>

#include "capture/still.h"
#include "watch/monitor.h"

namespace luminance {

/// Gives the pictures to the monitor, which has to outlive the stills.
class References {
 public:
  References(Monitor &monitor, Stills &stills) : monitor_(monitor), stills_(stills) {}

  /// Takes the picture if the camera needs one. Call this often: it may have no picture yet.
  void note(const Camera &camera);
  void remove(const Camera &camera) { asked_->erase(&camera); }

 private:
  using Asked = std::unordered_set<const Camera *>;

  Monitor &monitor_;
  Stills &stills_;
  const std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();  // waiting for a picture
};

}  // namespace luminance
