// SPDX-License-Identifier: LGPL-2.1-or-later
// The stage after the decoder, which passes on the wanted frames.
#pragma once

#include <gst/video/video.h>

#include "gst/library/frames/codedframes.h"

namespace cudatensor {

/// After this stage, the timestamps of frames are in stream time.
class ShownFrames final : public FrameStage {
 public:
  /// `coded` is the stage before the decoder; null if there is none. With a `counter`, frames are
  /// only counted.
  ShownFrames(const FrameSelection &selection, std::shared_ptr<FramePicks> picks,
              const CodedFrames *coded, FrameCounter *counter)
      : chooser_(selection), picks_(std::move(picks)), coded_(coded), counter_(counter) {}

  GstFlowReturn chain(Ref<GstBuffer> buffer) override;
  bool event(Ref<GstEvent> event) override;
  bool query(GstQuery *query) override;

 private:
  bool is_picking() const { return coded_ != nullptr && coded_->is_picking(); }
  GstFlowReturn choose(StreamTime next);
  void end();
  void check_decoder();
  GstFlowReturn repeat(Ref<GstBuffer> buffer, guint64 times);
  bool begin_stream();
  void finish();

  FrameChooser chooser_;
  std::shared_ptr<FramePicks> picks_;
  const CodedFrames *coded_;
  FrameCounter *const counter_;  // null: frames are passed on
  GstSegment segment_ = {};
  bool has_segment_ = false, is_ended_ = false;
  guint64 decoded_ = 0, chosen_ = 0;  // frames
  GstClockTime frame_duration_ = 0;
  StreamTime last_time_ = -kNever / 2;  // the time of the last frame chosen here
  Ref<GstBuffer> held_;                 // held until the next frame tells how long it is shown
};

}  // namespace cudatensor
