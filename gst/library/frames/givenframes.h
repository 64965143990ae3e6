// SPDX-License-Identifier: LGPL-2.1-or-later
// The last stage of a source, which checks that the next element accepts the frames, and tells it
// how they are turned.
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <optional>
#include <string>

#include "gst/base/direction.h"
#include "gst/library/frames/framestage.h"

namespace cudatensor {

/// Passes frames on as they are stored, or refuses their format with an error that names it.
class GivenFrames final : public FrameStage {
 public:
  using OnInfo = std::function<void(const GstVideoInfo &)>;

  /// `taker` is the name of the element that the frames are for, which turns them by `method`.
  /// `stored` is the orientation that the source states where its stream has no tag. The streaming
  /// thread calls `on_info` with the format of the frames as they are seen, before the first of
  /// them or the end.
  GivenFrames(std::string taker, GstVideoOrientationMethod method, Direction stored, OnInfo on_info)
      : taker_(std::move(taker)), stored_(stored), on_info_(std::move(on_info)) {
    direction_.method = method;
  }

  GstFlowReturn chain(Ref<GstBuffer> buffer) override;
  bool event(Ref<GstEvent> event) override;
  /// Accepts all caps in queries, so that this stage and no other refuses those of the event.
  bool query(GstQuery *query) override;

 private:
  bool take_caps(GstCaps *caps);
  std::string refusal(const GstCaps *caps, const GstVideoInfo *info) const;
  bool begin_stream(Ref<GstEvent> event);
  bool take_tags(Ref<GstEvent> event);
  void tell_info();

  const std::string taker_;
  const Direction stored_;
  const OnInfo on_info_;
  DirectionSettings direction_;
  std::optional<GstVideoInfo> info_;  // of the frames as they are stored
  bool has_news_ = false;             // whether the format has to be told
};

}  // namespace cudatensor
