// SPDX-License-Identifier: LGPL-2.1-or-later
// The description of a tensor of several frames of one stream, built as the frames arrive.
#pragma once

#include <vector>

#include "gst/tensor/slots.h"
#include "gst/util/ref.h"

namespace cudatensor {

class FrameBatch {
 public:
  size_t frames() const { return frames_; }
  /// Adds the slots of a frame, without holding the frame. `duration` is the usual duration, for
  /// frames that have none; it may be invalid.
  void add(GstBuffer *frame, DescribedSlots described, GstClockTime duration);
  /// Writes the time span, the flags and the metas of a tensor with `slots` slots, then resets the
  /// description. Slots that no frame has filled are empty.
  void describe(GstBuffer *tensor, size_t slots);
  void clear() { *this = {}; }

 private:
  void add_times(GstBuffer *frame, GstClockTime duration);

  size_t frames_ = 0;
  std::vector<BatchSlot> slots_;
  std::vector<Ref<GstBuffer>> pictures_;  // frames that slots_ refers to, without memory
  guint left_out_ = 0;
  bool all_gaps_ = true;  // whether no slot holds a picture to infer from
  GstClockTime begin_ = GST_CLOCK_TIME_NONE, end_ = 0;
};

}  // namespace cudatensor
