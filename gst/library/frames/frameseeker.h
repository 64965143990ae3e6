// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeks from the streaming thread.
#pragma once

#include <condition_variable>
#include <mutex>

#include "gst/library/frames/framechooser.h"

namespace cudatensor {

/// Not the streaming thread but another one seeks, since the demuxer waits for the streaming thread.
class FrameSeeker {
 public:
  /// Called by the streaming thread of the sink pad, which belongs to the element. Seeks to the random
  /// access point before a time. Returns whether it did: then the pad was flushed, and the thread must
  /// return GST_FLOW_FLUSHING.
  bool seek(GstElement *element, GstPad *sink, StreamTime time);

  // Other threads.
  /// The pad has got the flush of the seek.
  void set_flushed();
  /// seek() must return soon.
  void stop();
  /// Waits until the thread of the last seek has ended. It does when the pipeline has stopped.
  void finish();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false, executes_ = false, is_stopped_ = false;
};

}  // namespace cudatensor
