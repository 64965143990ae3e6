// SPDX-License-Identifier: LGPL-2.1-or-later
// Why a camera could not be opened, where GStreamer does not say: a connection to it is tried. Main
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
  /// `done` is called from the main loop, unless this is gone by then.
  Diagnosis(const Peer &peer, double seconds, std::function<void(const std::string &)> done);
  ~Diagnosis();
  Diagnosis(const Diagnosis &) = delete;
  Diagnosis &operator=(const Diagnosis &) = delete;

 private:
  struct Try;
  std::shared_ptr<Try> try_;
};

}  // namespace luminance
