// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/clipframes.h"

#include <algorithm>

#include "gst/meta/copiedmetas.h"
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
  copy_metas(frame, copy.get());
  return copy;
}

}  // namespace

ClipFrames::Frame &ClipFrames::append(GstBuffer *frame, GstClockTime duration) {
  Frame &added = frames_.emplace_back();
  added = {without_memory(frame), {}, GST_BUFFER_PTS(frame), GST_BUFFER_PTS(frame), false};
  if (GST_BUFFER_DURATION_IS_VALID(frame)) duration = GST_BUFFER_DURATION(frame);
  if (GST_CLOCK_TIME_IS_VALID(added.begin) && GST_CLOCK_TIME_IS_VALID(duration))
    added.end += duration;
  return added;
}

void ClipFrames::add(GstBuffer *frame, DescribedSlots described, GstClockTime duration) {
  Frame &added = append(frame, duration);
  added.is_made = has_new_ = true;
  for (BatchSlot &slot : described.slots)
    if (slot.picture != nullptr) slot.picture = added.picture.get();
  added.described = std::move(described);
}

void ClipFrames::add_missing(GstBuffer *frame, GstClockTime duration) { append(frame, duration); }

bool ClipFrames::has_any() const {
  return std::any_of(frames_.begin(), frames_.end(), [](const Frame &f) { return f.is_made; });
}

/// Returns whether no slot holds a picture to infer from.
bool ClipFrames::is_gap() const {
  return std::all_of(frames_.begin(), frames_.end(), [](const Frame &f) {
    return f.described.show_nothing || GST_BUFFER_FLAG_IS_SET(f.picture.get(), GST_BUFFER_FLAG_GAP);
  });
}

void ClipFrames::describe_times(GstBuffer *tensor) const {
  GstClockTime begin = GST_CLOCK_TIME_NONE, end = 0;
  for (const Frame &frame : frames_) {
    if (!GST_CLOCK_TIME_IS_VALID(frame.begin)) continue;
    begin = std::min(begin, frame.begin);
    end = std::max(end, frame.end);
  }
  GST_BUFFER_PTS(tensor) = begin;
  GST_BUFFER_DTS(tensor) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(tensor) =
      GST_CLOCK_TIME_IS_VALID(begin) && end > begin ? end - begin : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET(tensor) = GST_BUFFER_OFFSET_END(tensor) = GST_BUFFER_OFFSET_NONE;
}

void ClipFrames::describe_slots(GstBuffer *tensor, size_t slots, size_t each) const {
  std::vector<BatchSlot> all;
  all.reserve(slots);
  guint left_out = 0;
  for (const Frame &frame : frames_) {
    const DescribedSlots &described = frame.described;
    left_out += described.left_out;
    all.insert(all.end(), described.slots.begin(), described.slots.end());
    all.resize(all.size() + each - described.slots.size());
  }
  all.resize(slots);
  attach_batch_metas(tensor, all, left_out);
}

void ClipFrames::describe(GstBuffer *tensor, size_t slots, size_t each) const {
  remove_geometry(tensor);
  describe_slots(tensor, slots, each);
  describe_times(tensor);
  if (is_gap())
    GST_BUFFER_FLAG_SET(tensor, GST_BUFFER_FLAG_GAP);
  else
    GST_BUFFER_FLAG_UNSET(tensor, GST_BUFFER_FLAG_GAP);
}

void ClipFrames::advance(size_t shift) {
  const auto kept = frames_.begin() + static_cast<ptrdiff_t>(std::min(shift, count()));
  frames_.erase(frames_.begin(), kept);
  has_new_ = false;
}

}  // namespace cudatensor
