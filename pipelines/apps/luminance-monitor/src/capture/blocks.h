// SPDX-License-Identifier: LGPL-2.1-or-later
// The blocks of the frames that pass a pad.
#pragma once

#include <gst/video/video.h>

#include <deque>
#include <memory>
#include <mutex>

#include "capture/framelimit.h"
#include "watch/blocks.h"

namespace luminance {

/// Null: the frame cannot be mapped, or has a format that no measurement is made of.
std::shared_ptr<const Blocks> blocks_of(GstBuffer *buffer, const GstVideoInfo &info);

/// Keeps the blocks of frames until their measurements come.
class BlockTap {
 public:
  /// Looks at the frames that come to this pad, which keeps the tap.
  static std::shared_ptr<BlockTap> on(GstPad *pad);
  ~BlockTap() { gst_clear_caps(&caps_); }

  /// Of the frame with this timestamp; null where they are not known. Any thread.
  std::shared_ptr<const Blocks> take(GstClockTime timestamp);

 private:
  // Frames on a GPU are fetched from there for this, so not all of them.
  static constexpr unsigned kRateOnGpu = 5;

  struct Entry {
    GstClockTime timestamp;
    std::shared_ptr<const Blocks> blocks;
  };

  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer tap);
  void look(GstPad *pad, GstBuffer *buffer);

  // The streaming thread's.
  GstCaps *caps_ = nullptr;
  GstVideoInfo info_;  // of these caps
  bool is_on_gpu_ = false;
  FrameLimit limit_{kRateOnGpu};

  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace luminance
