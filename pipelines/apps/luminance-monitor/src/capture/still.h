// SPDX-License-Identifier: LGPL-2.1-or-later
// A small JPEG of a camera's picture.
#pragma once

#include <glib.h>

#include <functional>

namespace luminance {

/// Who has pictures. Main thread only.
class Stills {
 public:
  virtual ~Stills() = default;
  /// Calls back from the main loop, perhaps at once, with a JPEG of at most 320 pixels' width, or
  /// null where the camera has no picture. Asked for again within a few seconds, it is the same.
  virtual void still(size_t camera, const std::function<void(GBytes *)> &done) = 0;
};

}  // namespace luminance
