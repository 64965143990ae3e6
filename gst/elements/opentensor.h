// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor in which cudanormalize collects several frames.
#pragma once

#include <atomic>

#include "gst/base/transformelement.h"
#include "gst/elements/framebatch.h"
#include "gst/tensor/tensormaker.h"

namespace cudatensor {

/// Used only by the streaming thread, except add_latency().
class OpenTensor {
 public:
  OpenTensor(GstBaseTransform *element, TensorMaker &maker) : element_(element), maker_(maker) {}

  /// Returns how many frames the tensor has.
  int64_t frames() const { return static_cast<int64_t>(batch_.frames()); }
  /// Records a frame that was written into `tensor`, which is complete with `most` frames.
  /// `duration` is the usual duration of a frame.
  void add(GstBuffer *frame, GstBuffer *tensor, DescribedSlots slots, GstClockTime duration,
           guint most);

  /// Returns the tensor for the next frame; null if none is open.
  GstBuffer *take() { return buffer_.release(); }
  /// Keeps the tensor for the next frame unless it is complete. `flow` is the result for this
  /// frame; returns the result for GstBaseTransform.
  GstFlowReturn keep(GstFlowReturn flow, GstBuffer **tensor);
  /// Fills the rest with pad, and pushes the tensor, if one is open.
  void push();
  void discard();
  /// Pushes the tensor before an event that must not fall between frames of one tensor, and
  /// discards it after a flush.
  void before_event(GstEvent *event);

  /// Sets the latency in ns: how long the first frame of a tensor waits for the last one.
  void set_latency(GstClockTime latency);
  /// Adds the latency to an answered query.
  void add_latency(GstQuery *query) const;

 private:
  bool ends_tensor(GstEvent *event) const;

  GstBaseTransform *element_;
  TensorMaker &maker_;
  Ref<GstBuffer> buffer_;
  FrameBatch batch_;
  std::atomic<GstClockTime> latency_{0};
};

}  // namespace cudatensor
