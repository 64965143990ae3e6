// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches an element that makes tensors of frames.
#pragma once

#include <gst/app/app.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "pipeline.h"

/// A frame and the tensor made of it, both copied: what a camera lends it wants back.
struct Capture {
  guint64 number;
  Ref<GstBuffer> frame, tensor;
  Ref<GstCaps> frame_caps, tensor_caps;
};

/// Counts and times the element's tensors and keeps a few, spread over the whole stream however
/// long it gets. Nothing may lie between the element and the appsink that changes threads.
class Watcher {
 public:
  /// The pipeline must have ended before the watcher does.
  void watch(GstElement *element, GstAppSink *sink);

  guint64 count() const { return count_; }
  double frames_per_second() const;
  /// How long the element took for a frame.
  double milliseconds_each() const;
  /// At most `count`, evenly spread; where frames came in several sizes or formats, the first of
  /// each of these instead, however many. Once.
  std::vector<Capture> take_captures(size_t count);

 private:
  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  static GstFlowReturn on_tensor(GstAppSink *sink, gpointer self);
  void count_tensor();
  Capture capture(GstSample *sample) const;
  void keep(GstSample *sample);
  void keep_first_of_kind(GstSample *sample);

  Ref<GstBuffer> frame_;  // the one at work
  Ref<GstCaps> frame_caps_;
  gint64 frame_time_ = 0;
  std::atomic<guint64> count_ = 0;
  std::atomic<gint64> first_ = 0, last_ = 0, busy_ = 0;  // in microseconds

  std::mutex mutex_;
  std::vector<Capture> kinds_;     // the first of each
  std::vector<Capture> captures_;  // every stride-th
  guint64 stride_ = 1;
};
