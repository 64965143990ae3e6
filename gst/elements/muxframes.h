// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames that wait at the pads of cudatensormux: which of them a batch takes, and which are
// too old for any.
#pragma once

#include "gst/elements/batchschedule.h"
#include "gst/elements/muxbatch.h"
#include "gst/elements/muxcamera.h"

namespace cudatensor {

class MuxFrames {
 public:
  using Pads = std::vector<Ref<GstAggregatorPad>>;

  MuxFrames(GstAggregator *element, GstDebugCategory *category)
      : element_(element), category_(category) {}

  BatchSchedule &schedule() { return schedule_; }
  const BatchSchedule &schedule() const { return schedule_; }

  /// Sets whether the frames are live. Late frames are dropped only then.
  void set_live(bool live) { live_ = live; }
  /// Returns whether the clock has reached the time until which a batch waits for frames.
  bool is_due(GstClockTime start) const;
  /// Returns the first frame of each pad, which stays in the pad's queue; empty where there is none.
  std::vector<Frame> heads(const Pads &pads) const;
  /// Returns the start of the next batch; no value if no frame is waiting.
  std::optional<GstClockTime> next_start(const std::vector<Frame> &heads) const;

  /// Returns whether each camera has a frame for a batch, or has ended. Drops frames that are too
  /// old for the batch, but only a limited number of each camera, because the other cameras wait.
  bool are_ready(const Pads &pads, GstClockTime start);
  /// Returns the frame of a camera for a batch, or none; if the camera has fallen behind, the
  /// newest frame.
  Frame take(GstAggregatorPad *pad, GstClockTime start);
  void post_dropped(gpointer where, GstClockTime time, GstClockTime pts);

 private:
  GstClockTime now() const;
  bool fits(GstClockTime time, GstClockTime start, GstClockTime clock) const;
  bool is_too_old(GstAggregatorPad *pad, GstClockTime time, GstClockTime start) const;
  bool is_ready(GstAggregatorPad *pad, GstClockTime start, Frame &head);
  bool replaces(const Frame &head, const Frame &frame) const;
  Frame pop(GstAggregatorPad *pad);
  void learn_age(GstAggregatorPad *pad, const Frame &frame, GstClockTime start);
  void post_dropped(GstAggregatorPad *pad, const Frame &frame);

  GstAggregator *element_;
  GstDebugCategory *category_;
  // Used only by the streaming thread.
  BatchSchedule schedule_;
  bool live_ = false;
};

}  // namespace cudatensor
