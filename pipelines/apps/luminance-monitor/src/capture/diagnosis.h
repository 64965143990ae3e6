// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out why a camera could not be opened if GStreamer does not say, by connecting to it. Main
// thread only.
#pragma once

#include <gio/gio.h>

#include <functional>
#include <memory>
#include <string>

#include "capture/uri.h"

namespace luminance {

class Diagnosis {
 public:
  /// Calls `done` with the reason on the main loop, unless the diagnosis has been destroyed.
  Diagnosis(const Peer &peer, double seconds, std::function<void(const std::string &)> done);
  ~Diagnosis();
  Diagnosis(const Diagnosis &) = delete;
  Diagnosis &operator=(const Diagnosis &) = delete;

 private:
  struct Try;
  std::shared_ptr<Try> try_;
};

}  // namespace luminance
