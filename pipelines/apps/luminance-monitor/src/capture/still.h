// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface for small JPEGs of cameras' pictures.
#pragma once

#include <glib.h>

#include <functional>

namespace luminance {

/// Provides pictures. Main thread only.
class Stills {
 public:
  virtual ~Stills() = default;
  /// Calls `done` on the main loop, possibly at once, with a JPEG at most 320 pixels wide, or null
  /// if the camera has no picture. Repeated calls within a few seconds return the same picture.
  /// While a camera is not connected, that is its last picture.
  virtual void still(size_t camera, const std::function<void(GBytes *)> &done) = 0;
};

}  // namespace luminance
