// SPDX-License-Identifier: LGPL-2.1-or-later
// A rig for cudatensormux in which times identify frames.
#pragma once

#include "muxrig.h"
#include "reference.h"

namespace cudatensor {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;  // 25 a second
constexpr const char *kRate = "framerate=25/1";

/// Cameras whose frames differ in their grey level.
class MuxTimes : public testing::Test {
 protected:
  void start(const std::string &properties, size_t cameras, bool live = false,
             const char *rate = kRate) {
    rig_ = std::make_unique<MuxRig>("width=4 height=4 dtype=uint8 color=gray " + properties,
                                    cameras, live);
    for (size_t i = 0; i < cameras; ++i) rig_->camera(i).caps(video_caps(desc_, rate));
  }

  GstFlowReturn push(size_t camera, GstClockTime pts, GstClockTime duration = kFrame) {
    return rig_->camera(camera).push(
        frame_at(Picture(desc_, static_cast<uint8_t>(camera + 1)), pts, duration));
  }

  /// Running times of the next batch's pictures, by slot; no value for an empty slot. Checks the
  /// slots' bytes, too.
  using Times = std::vector<std::optional<GstClockTime>>;
  static Times times_of(const BufferRef &batch) {
    Times times;
    const Bytes bytes = bytes_of(batch.get());
    for (const BatchSlotMeta &slot : slots_of(batch.get())) {
      const size_t i = times.size();
      EXPECT_EQ(bytes.at(i * 16), slot.valid ? slot.pad_index + 1 : 114);
      times.push_back(slot.valid ? std::optional(slot.running_time) : std::nullopt);
    }
    return times;
  }
  Times next() { return times_of(rig_->pull()); }
  /// Returns the frames' own timestamps.
  std::vector<GstClockTime> next_times() {
    std::vector<GstClockTime> times;
    for (const BatchSlotMeta &slot : slots_of(rig_->pull().get())) times.push_back(slot.pts);
    return times;
  }

  const ImageDesc desc_ = {PixelFormat::GRAY8, 4, 4};
  std::vector<std::string> warnings() { return rig_->messages().warnings(); }

  std::unique_ptr<MuxRig> rig_;
};
constexpr std::nullopt_t kNone = std::nullopt;

}  // namespace cudatensor
