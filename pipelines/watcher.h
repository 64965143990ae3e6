// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures an element that converts frames to tensors.
#pragma once

#include <gst/app/app.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "pipeline.h"

/// Copies of a frame and its tensor. Keeping the buffers would exhaust the pool of a camera.
struct Capture {
  guint64 number;
  Ref<GstBuffer> frame, tensor;
  Ref<GstCaps> frame_caps, tensor_caps;
};

/// Counts and times the tensors of an element, and keeps a few from the whole stream. The element
/// and the appsink must run in the same thread.
class Watcher {
 public:
  /// The pipeline must be stopped before the watcher is destroyed.
  void watch(GstElement *element, GstAppSink *sink);

  guint64 count() const { return count_; }
  double frames_per_second() const;
  /// Returns the mean time that the element takes for a frame.
  double milliseconds_each() const;
  /// Returns at most `count` captures, evenly spaced; if the frames had several sizes or formats,
  /// the first of each instead. May be called once.
  std::vector<Capture> take_captures(size_t count);

 private:
  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  static GstFlowReturn on_tensor(GstAppSink *sink, gpointer self);
  void count_tensor();
  Capture capture(GstSample *sample) const;
  void keep(GstSample *sample);
  void keep_first_of_kind(GstSample *sample);

  Ref<GstBuffer> frame_;  // the frame being processed
  Ref<GstCaps> frame_caps_;
  gint64 frame_time_ = 0;
  std::atomic<guint64> count_ = 0;
  std::atomic<gint64> first_ = 0, last_ = 0, busy_ = 0;  // in microseconds

  std::mutex mutex_;
  std::vector<Capture> kinds_;     // the first of each size and format
  std::vector<Capture> captures_;  // every stride_-th frame
  guint64 stride_ = 1;
};
