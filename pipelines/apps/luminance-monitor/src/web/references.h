// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of what cameras are meant to look at, taken when it has been learned. Main thread only.
#pragma once

#include <glib.h>

#include <memory>
#include <unordered_map>

#include "capture/still.h"
#include "watch/monitor.h"

namespace luminance {

class References {
 public:
  References(const Monitor &monitor, Stills &stills) : monitor_(monitor), stills_(stills) {}

  /// A JPEG, or null: it has not been learned, or there was no picture then. Not owned by the caller.
  GBytes *picture(const Camera &camera) const;
  /// Call when a camera has changed.
  void note(const Camera &camera);
  void remove(const Camera &camera) { pictures_->erase(&camera); }

 private:
  struct Picture {
    Time learned;
    std::shared_ptr<GBytes> jpeg;  // null: none yet
  };
  using Pictures = std::unordered_map<const Camera *, Picture>;

  const Monitor &monitor_;
  Stills &stills_;
  const std::shared_ptr<Pictures> pictures_ = std::make_shared<Pictures>();
};

}  // namespace luminance
