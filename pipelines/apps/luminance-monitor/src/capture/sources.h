// SPDX-License-Identifier: LGPL-2.1-or-later
// Where every camera's frames come from, and its pictures. Main thread only.
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
  /// The settings outlive it.
  Sources(const Settings &settings, Monitor &monitor);
  ~Sources() override;

  /// Throws std::runtime_error where no camera can be watched here.
  void begin();
  /// Of other settings: the monitor has a new camera of this number, or is about to lose one.
  void add(size_t camera);
  void remove(size_t camera);
  /// A few times a second.
  void tick();
  /// Lets the cameras go, and waits a while for those that are slow to close; false where one still
  /// is not, and may use this: then nothing is left but to end the program.
  bool stop();
  /// Nothing comes any more.
  bool are_over() const;
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
  std::map<size_t, std::unique_ptr<Source>> sources_;  // by the monitor's number
  std::map<size_t, Still> stills_;
  GCancellable *const leaving_;
  bool making_ = false;
};

}  // namespace luminance
