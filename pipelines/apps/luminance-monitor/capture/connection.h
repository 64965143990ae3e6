// SPDX-License-Identifier: LGPL-2.1-or-later
// One try at a camera: a pipeline that measures frames until it fails, ends or is let go.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>

#include "../settings/settings.h"
#include "../watch/time.h"
#include "inbox.h"
#include "player.h"

namespace luminance {

/// Throws std::runtime_error where GStreamer lacks an element that every camera needs.
void check_elements(const Settings &settings);

class Connection {
 public:
  struct Callbacks {  // on the main loop
    std::function<void(const std::string &)> failed;
    std::function<void()> ended;
  };
  struct Begin {
    size_t camera;
    unsigned number;  // of the try
    Time time;        // fast: of the first frame
  };

  /// Begins at once; what fails is told by a callback, later.
  Connection(const CameraSettings &camera, const Settings &settings, Inbox &inbox,
             const Begin &begin, Callbacks callbacks);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  unsigned number() const;
  /// When the next frame would come, by the time of the frames.
  Time end() const;
  /// The latest frame, or null. The caller owns it.
  GstSample *sample() const;

 private:
  struct Feed;

  static GstBusSyncReply on_any_thread(GstBus *, GstMessage *message, gpointer feed);
  static gboolean on_main_loop(GstBus *, GstMessage *message, gpointer self);

  const Callbacks callbacks_;
  const std::shared_ptr<Feed> feed_;
  std::unique_ptr<Player> player_;
};

}  // namespace luminance
