// SPDX-License-Identifier: LGPL-2.1-or-later
// The clips in which cudanormalize collects frames.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "gst/base/transformelement.h"
#include "gst/tensor/clipframes.h"
#include "gst/tensor/clipschedule.h"
#include "gst/tensor/tensormaker.h"

namespace cudatensor {

/// The clips that are not full yet. Each frame is made once, in the oldest of them that has a place
/// for it. A full clip leaves the frames that it shares with the next one of its track as copies in
/// a new tensor, before it is pushed: each track has one tensor. Clips of one frame are not kept.
/// Used only by the streaming thread, except add_latency().
class Clips {
 public:
  Clips(GstBaseTransform *element, TensorMaker &maker) : element_(element), maker_(maker) {}

  /// Forgets all frames, and counts anew.
  void begin(const ClipShape &shape);
  /// Sets the duration of frames that have none, in ns; 0 = unknown.
  void set_frame_duration(GstClockTime duration);
  /// The number of tensors that are held, at most.
  guint held() const;

  /// Counts a frame that will be processed. Returns whether a clip holds it.
  bool next();
  /// Counts a frame that was left out because it was late. Pushes a clip that it was the last of.
  GstFlowReturn miss(GstBuffer *frame);

  // The frame of the last next():
  /// Returns its clip's tensor; null if the clip has none yet.
  GstBuffer *take() { return collects() ? tracks_[place_.track].tensor.release() : nullptr; }
  /// Where it is written.
  TensorPart part() const;
  /// Record its slots; without slots, it could not be used.
  void add(GstBuffer *frame, DescribedSlots slots);
  void add_missing(GstBuffer *frame);
  /// Keeps its tensor unless that is complete. `flow` is the result for the frame; returns the
  /// result for GstBaseTransform.
  GstFlowReturn keep(GstFlowReturn flow, GstBuffer **tensor);

  /// Pushes the oldest clip, if it has a frame that no other had, and counts anew.
  void push();
  void discard() { begin(schedule_.shape()); }
  /// Pushes before an event that must not fall between frames of one clip, and discards after a
  /// flush.
  void before_event(GstEvent *event);
  /// Adds to an answered query how long the first frame of a clip waits for the last one.
  void add_latency(GstQuery *query) const;

 private:
  struct Track {
    Ref<GstBuffer> tensor;  // null: no frame yet, or the element has taken it
    ClipFrames frames;
  };

  bool collects() const { return schedule_.shape().frames > 1; }
  bool ends_clip(GstEvent *event) const;
  std::vector<int64_t> missing(const Track &track) const;
  bool complete(size_t number);
  GstFlowReturn begin_next(size_t number, GstBuffer *full);
  GstFlowReturn finish(size_t number, GstBuffer **tensor);
  void update_latency();

  GstBaseTransform *element_;
  TensorMaker &maker_;
  ClipSchedule schedule_;
  ClipSchedule::Place place_ = {};  // of the last next()
  std::vector<Track> tracks_ = std::vector<Track>(1);
  GstClockTime frame_duration_ = 0;
  std::atomic<GstClockTime> latency_{0};
};

}  // namespace cudatensor
