// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeks from the streaming thread.
#pragma once

#include <condition_variable>
#include <mutex>

#include "gst/library/frames/framechooser.h"

namespace cudatensor {

/// Seeks on a separate thread, because the demuxer waits for the streaming thread.
class FrameSeeker {
 public:
  /// Seeks to the random access point before a time. Called by the streaming thread of `sink`, a
  /// pad of `element`. Returns whether it has sought; if so, the pad was flushed, and the streaming
  /// thread must return GST_FLOW_FLUSHING.
  bool seek(GstElement *element, GstPad *sink, StreamTime time);

  // Called by other threads.
  /// Called when the pad has received the flush of the seek.
  void set_flushed();
  /// Makes seek() return soon.
  void stop();
  /// Waits until the thread of the last seek has ended, which it does once the pipeline has
  /// stopped.
  void finish();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false, executes_ = false, is_stopped_ = false;
};

}  // namespace cudatensor
