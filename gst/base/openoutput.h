// SPDX-License-Identifier: LGPL-2.1-or-later
// The output buffer of a filter that puts several inputs into one, while it is being filled.
#pragma once

#include "gst/base/filter.h"
#include "gst/util/ref.h"

namespace cudatensor {

/// Used only by the streaming thread, except add_latency().
class OpenOutput {
 public:
  OpenOutput(GstBaseTransform *element, Filter &filter, ElementCore &core)
      : element_(element), filter_(filter), core_(core) {}

  bool is_open() const { return buffer_ != nullptr; }
  /// Returns the buffer for the next input.
  GstBuffer *take() { return buffer_.release(); }
  /// Keeps the output for the next input unless the filter has completed it. `flow` is the result
  /// for this input; returns the one for GstBaseTransform.
  GstFlowReturn keep(GstFlowReturn flow, GstBuffer **output);
  /// Pushes the output with the inputs that have come.
  void push();
  void discard();
  /// Pushes the output before an event that inputs of the same buffer must not be separated by, and
  /// discards it when the streams are flushed.
  void before_event(GstEvent *event);

  /// Adds the time that inputs wait for the last one of their buffer to an answered query.
  /// Returns true.
  bool add_latency(GstQuery *query) const;
  /// Called for new caps, which change it.
  void update_latency();

 private:
  bool ends_output(GstEvent *event) const;

  GstBaseTransform *element_;
  Filter &filter_;
  ElementCore &core_;
  Ref<GstBuffer> buffer_;
  std::atomic<GstClockTime> latency_{0};
};

}  // namespace cudatensor
