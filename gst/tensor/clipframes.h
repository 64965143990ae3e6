// SPDX-License-Identifier: LGPL-2.1-or-later
// The description of a clip, built as its frames arrive.
#pragma once

#include <vector>

#include "gst/tensor/slots.h"
#include "gst/util/ref.h"

namespace cudatensor {

/// The frames that a clip has so far, without their memory.
class ClipFrames {
 public:
  size_t count() const { return frames_.size(); }
  bool is_missing(size_t frame) const { return frame >= count() || !frames_[frame].is_made; }
  /// Returns whether any frame is not missing.
  bool has_any() const;
  /// Returns whether a frame that is not missing has come since advance().
  bool has_new() const { return has_new_; }
  /// The first frame, with its times, flags and copied metas.
  GstBuffer *first() const { return frames_.front().picture.get(); }

  /// Adds a frame and the slots that were made of it, without holding it. `duration` is the usual
  /// duration, for frames that have none; it may be invalid.
  void add(GstBuffer *frame, DescribedSlots described, GstClockTime duration);
  /// Adds a frame that could not be used: its slots are not valid.
  void add_missing(GstBuffer *frame, GstClockTime duration);
  /// Writes the time span, the flags and the metas of the clip's tensor, in which each frame has
  /// `each` slots. Slots without a frame are not valid.
  void describe(GstBuffer *tensor, size_t slots, size_t each) const;
  /// Goes on with the clip that begins `shift` frames later.
  void advance(size_t shift);
  void clear() { *this = {}; }

 private:
  struct Frame {
    Ref<GstBuffer> picture;
    DescribedSlots described;
    GstClockTime begin, end;  ///< invalid if unknown
    bool is_made;
  };
  Frame &append(GstBuffer *frame, GstClockTime duration);
  void describe_times(GstBuffer *tensor) const;
  void describe_slots(GstBuffer *tensor, size_t slots, size_t each) const;
  bool is_gap() const;

  std::vector<Frame> frames_;
  bool has_new_ = false;
};

}  // namespace cudatensor
