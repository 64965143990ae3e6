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
  /// Stops all cameras, and waits a while for those that close slowly. Returns false if one has not
  /// closed and may still use this object: then the program must exit.
  bool stop();
  /// Whether no more frames will arrive.
  bool all_finished() const;
  bool has_failed() const;

  void still(size_t camera, const std::function<void(GBytes *)> &done) override;

 private:
  using Bytes = std::shared_ptr<GBytes>;
  using Sample = std::unique_ptr<GstSample, decltype(&gst_sample_unref)>;
  struct Still {
    Bytes jpeg;                              // or null
    gint64 made = 0;                         // monotonic, in microseconds; 0: never
    bool is_last = false;                    // whether `jpeg` is of a connection that is over
    Sample last{nullptr, gst_sample_unref};  // the last frame, whose JPEG is to be made; or null
    std::vector<std::function<void(GBytes *)>> waiting;
  };
  struct Picture {
    size_t camera;
    bool is_last;
  };

  std::unique_ptr<Source> make_source(size_t camera);
  void keep(size_t camera, GstSample *last);
  void make_next();
  void make(const Picture &picture, GstSample *sample);
  void finish(const Picture &picture, Bytes jpeg);

  Inbox inbox_;
  const Settings &settings_;
  Monitor &monitor_;
  std::map<size_t, std::unique_ptr<Source>> sources_;  // by their number in the monitor
  std::map<size_t, Still> stills_;
  GCancellable *const leaving_;
  bool making_ = false;
};

}  // namespace luminance
