// SPDX-License-Identifier: LGPL-2.1-or-later
// One connection to a camera: a pipeline that measures frames until it fails, ends or is destroyed.
// If pictures are polled, they are its frames.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>

#include "capture/diagnosis.h"
#include "capture/inbox.h"
#include "capture/player.h"
#include "capture/polling.h"
#include "settings/settings.h"
#include "watch/time.h"

namespace luminance {

class Connection {
 public:
  struct Callbacks {  // called on the main loop
    std::function<void(const std::string &)> failed;
    std::function<void()> ended;
  };
  struct Begin {
    size_t camera;
    unsigned number;  // of the attempt
    Time time;        // the earliest time of the first frame; in fast mode, its time
  };

  /// Starts at once; failures are reported later, by a callback.
  Connection(const CameraSettings &camera, const Settings &settings, Inbox &inbox,
             const Begin &begin, Callbacks callbacks);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// Call a few times per second. It may call `failed`, which may delete the connection.
  void tick();
  unsigned number() const;
  /// The earliest time of the next frame.
  Time end() const;
  /// The latest frame, or null. The caller owns it.
  GstSample *sample() const;

 private:
  struct Feed;

  static GstBusSyncReply on_any_thread(GstBus *, GstMessage *message, gpointer feed);
  static gboolean on_main_loop(GstBus *, GstMessage *message, gpointer self);

  void open(GstElement *pipeline);
  void close();
  void take(const Fetched &fetched);
  void show(const std::string &picture);
  void count_decoded();
  void take_answer(GstMessage *message);
  void fail(GstMessage *message);
  void follow(const std::string &location);
  void fail(const std::string &why);
  void diagnose(const Peer &peer);
  void leave(const std::function<void(const Callbacks &)> &tell);

  const Callbacks callbacks_;
  const Settings &settings_;
  const CameraSettings &own_;  // as configured
  CameraSettings camera_;      // as opened, possibly after a redirect
  Inbox &inbox_;
  const Begin begin_;
  std::shared_ptr<Feed> feed_;  // of the latest player
  std::unique_ptr<Player> player_;
  std::unique_ptr<Diagnosis> diagnosis_;
  std::unique_ptr<Polling> polling_;  // null if pictures are not polled
  std::string format_;                // media type of the latest picture
  unsigned shown_ = 0;                // number of pictures that the player was given
  guint patience_ = 0;                // timer on the main loop for decoding the latest of them
  Time opened_ = 0;                   // monotonic
  bool has_answered_ = false;         // with a successful HTTP response
  std::string location_;              // target of the latest redirect
  int redirects_ = 0;
};

}  // namespace luminance
