// SPDX-License-Identifier: LGPL-2.1-or-later
// The blocks of frames that pass through a pad.
#pragma once

#include <gst/video/video.h>

#include <deque>
#include <memory>
#include <mutex>

#include "capture/framelimit.h"
#include "capture/surfaces.h"
#include "watch/blocks.h"

namespace luminance {

/// Null if the frame cannot be mapped, or its format is not one that is measured.
std::shared_ptr<const Blocks> blocks_of(GstBuffer *buffer, const GstVideoInfo &info);

/// Keeps the blocks of frames until their measurements arrive.
class BlockTap {
 public:
  /// Taps the frames that arrive at this pad, which keeps the tap alive.
  static std::shared_ptr<BlockTap> on(GstPad *pad);
  ~BlockTap() { gst_clear_caps(&caps_); }

  /// The blocks of the frame with this timestamp; null if unknown. Any thread.
  std::shared_ptr<const Blocks> take(GstClockTime timestamp);

 private:
  // Frames on a GPU are downloaded for this, so only some of them are used.
  static constexpr unsigned kRateOnGpu = 5;

  struct Entry {
    GstClockTime timestamp;
    std::shared_ptr<const Blocks> blocks;
  };

  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer tap);
  void look(GstPad *pad, GstBuffer *buffer);
  std::shared_ptr<const Blocks> blocks_in_surfaces(GstBuffer *buffer);

  // Used by the streaming thread only.
  GstCaps *caps_ = nullptr;
  GstVideoInfo info_;  // of these caps
  bool is_on_gpu_ = false;
  std::unique_ptr<SurfaceSampler> sampler_;  // for these caps, if frames are in surfaces
  FrameLimit limit_{kRateOnGpu};

  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace luminance
