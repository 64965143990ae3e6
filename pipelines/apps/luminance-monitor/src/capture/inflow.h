// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures what an RTSP source receives over its sockets, and how much of it is video. The header
// of an RTSP message may have gigabytes of lines, which rtspsrc collects before it passes any on.
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "watch/time.h"

namespace luminance {

class Inflow : public std::enable_shared_from_this<Inflow> {
 public:
  /// Returns the inflow of a pipeline, which must not have been started yet.
  static std::shared_ptr<Inflow> of(GstElement *pipeline);
  ~Inflow();

  /// Counts sockets that the calling thread connects from now on as those of the pipeline.
  void begin_here();
  /// Call a few times per second. If rtspsrc keeps more bytes than any message has, shuts the
  /// sockets down and returns an error for users.
  std::string check();

 private:
  struct Connection {
    GSocket *socket;
    uint64_t received;  // bytes, at the last check
  };

  Inflow() = default;
  static gboolean on_event(GSignalInvocationHint *, guint, const GValue *values, gpointer);
  static void on_element(GstBin *, GstBin *, GstElement *element, gpointer self);
  static GstPadProbeReturn on_packet(GstPad *, GstPadProbeInfo *info, gpointer self);
  void add(GSocket *socket);
  void stop();

  std::mutex mutex_;
  std::vector<Connection> connections_;
  std::atomic<uint64_t> video_{0};  // bytes
  std::atomic<bool> has_udp_{false};
  uint64_t video_before_ = 0, kept_ = 0;
  Time checked_ = 0;
};

}  // namespace luminance
