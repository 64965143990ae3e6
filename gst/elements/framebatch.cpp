// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/framebatch.h"

#include <algorithm>

#include "gst/meta/geometrymeta.h"

namespace cudatensor {
namespace {

/// Returns a copy of a frame with what the metas of a batch need, but without its memory, which
/// decoders wait for.
Ref<GstBuffer> without_memory(GstBuffer *frame) {
  constexpr auto kTimes =
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS);
  Ref<GstBuffer> copy(gst_buffer_new());
  gst_buffer_copy_into(copy.get(), frame, kTimes, 0, static_cast<gsize>(-1));
  copy_geometry(frame, copy.get());
  return copy;
}

}  // namespace

void FrameBatch::add_times(GstBuffer *frame, GstClockTime duration) {
  const GstClockTime begin = GST_BUFFER_PTS(frame);
  if (!GST_CLOCK_TIME_IS_VALID(begin)) return;
  if (GST_BUFFER_DURATION_IS_VALID(frame)) duration = GST_BUFFER_DURATION(frame);
  const GstClockTime end = GST_CLOCK_TIME_IS_VALID(duration) ? begin + duration : begin;
  begin_ = std::min(begin_, begin);
  end_ = std::max(end_, end);
}

void FrameBatch::add(GstBuffer *frame, DescribedSlots described, GstClockTime duration) {
  ++frames_;
  left_out_ += described.left_out;
  add_times(frame, duration);
  all_gaps_ &= described.show_nothing || GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_GAP);
  const Ref<GstBuffer> &picture = pictures_.emplace_back(without_memory(frame));
  for (BatchSlot &slot : described.slots) {
    if (slot.picture != nullptr) slot.picture = picture.get();
    slots_.push_back(std::move(slot));
  }
}

void FrameBatch::describe(GstBuffer *tensor, size_t slots) {
  slots_.resize(slots);
  remove_geometry(tensor);
  attach_batch_metas(tensor, slots_, left_out_);
  GST_BUFFER_PTS(tensor) = begin_;
  GST_BUFFER_DTS(tensor) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(tensor) =
      GST_CLOCK_TIME_IS_VALID(begin_) && end_ > begin_ ? end_ - begin_ : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET(tensor) = GST_BUFFER_OFFSET_END(tensor) = GST_BUFFER_OFFSET_NONE;
  if (all_gaps_)
    GST_BUFFER_FLAG_SET(tensor, GST_BUFFER_FLAG_GAP);
  else
    GST_BUFFER_FLAG_UNSET(tensor, GST_BUFFER_FLAG_GAP);
  clear();
}

}  // namespace cudatensor
