// SPDX-License-Identifier: LGPL-2.1-or-later
// The sources of all cameras, and their pictures. Main thread only.
#pragma once

#include <gio/gio.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "capture/inbox.h"
#include "capture/source.h"
#include "capture/still.h"

namespace luminance {

class Sources : public Stills {
 public:
  /// The settings must outlive the sources.
  Sources(const Settings &settings, Monitor &monitor);
  ~Sources() override;

  /// Throws std::runtime_error if no camera can be watched on this machine.
  void begin();
  /// After a reload: the monitor has a new camera with this number, or is about to remove it.
  void add(size_t camera);
  void remove(size_t camera);
  /// Call a few times per second.
  void tick();
  /// Stops all cameras, and waits a while for those that close slowly. False if one has not closed
  /// and may still use this object: then the program must exit.
  bool stop();
  /// Whether no more frames will arrive.
  bool all_finished() const;
  bool has_failed() const;

  void still(size_t camera, const std::function<void(GBytes *)> &done) override;

 private:
  using Bytes = std::shared_ptr<GBytes>;
  struct Still {
    Bytes jpeg;       // or null
    gint64 made = 0;  // monotonic, in microseconds; 0: never
    std::vector<std::function<void(GBytes *)>> waiting;
  };

  void make_next();
  void finish(size_t camera, GBytes *jpeg);

  Inbox inbox_;
  const Settings &settings_;
  Monitor &monitor_;
  std::map<size_t, std::unique_ptr<Source>> sources_;  // by their number in the monitor
  std::map<size_t, Still> stills_;
  GCancellable *const leaving_;
  bool making_ = false;
};

}  // namespace luminance
