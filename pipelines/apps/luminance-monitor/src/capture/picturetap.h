// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the blocks and thumbnails of frames that pass through a pad.
#pragma once

#include <gst/video/video.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "capture/blocks.h"
#include "capture/framelimit.h"
#include "capture/surfaces.h"
#include "settings/region.h"
#include "watch/blocks.h"
#include "watch/thumbnail.h"

namespace luminance {

/// Keeps blocks and thumbnails until the measurements of their frames arrive.
class PictureTap {
 public:
  struct Pictures {  // null: unknown
    std::shared_ptr<const Blocks> blocks;
    std::shared_ptr<const Thumbnail> thumbnail;
  };

  /// Taps the frames that arrive at this pad, which keeps the tap alive. Only pixels of the region
  /// are used.
  static std::shared_ptr<PictureTap> on(GstPad *pad, const Region &region = {});
  explicit PictureTap(const Region &region) : cutout_(cutout_of(region)) {}
  ~PictureTap() { gst_clear_caps(&caps_); }

  /// Returns the pictures of the frame with this timestamp, and drops earlier ones. Any thread.
  Pictures take(GstClockTime timestamp);

 private:
  // Frames on a GPU are downloaded for this, so only some of them are used.
  static constexpr unsigned kRateOnGpu = 5;
  // A scene changes slowly, or stays changed.
  static constexpr Time kThumbnailEvery = 2 * kSecond;

  struct Entry {
    GstClockTime timestamp;
    Pictures pictures;
  };

  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer tap);
  void look(GstPad *pad, GstBuffer *buffer);
  void change_caps(GstCaps *caps);
  Pictures pictures_of(GstBuffer *buffer, const GstVideoInfo &info, Time time);
  Pictures pictures_in_surfaces(GstBuffer *buffer);

  // Used by the streaming thread only.
  GstCaps *caps_ = nullptr;
  GstVideoInfo info_;  // of these caps
  bool is_on_gpu_ = false;
  std::unique_ptr<SurfaceSampler> sampler_;  // for these caps, if frames are in surfaces
  const Cutout<double> cutout_;
  Cutout<size_t> pixels_;  // in pixels of these frames, or in samples if frames are in surfaces
  std::optional<BlockSampler> blocks_;
  FrameLimit limit_{kRateOnGpu};
  FrameLimit thumbnail_limit_ = FrameLimit::every(kThumbnailEvery);

  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace luminance
