// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/muxbatch.h"

#include <algorithm>

namespace cudatensor {

bool MuxBatch::has_picture() const {
  return std::any_of(frames_.begin(), frames_.end(),
                     [](const Frame &frame) { return frame.is_picture(); });
}

bool MuxBatch::has_time() const {
  return std::any_of(frames_.begin(), frames_.end(), [](const Frame &frame) {
    return frame.is_picture() && GST_CLOCK_TIME_IS_VALID(frame.time);
  });
}

std::vector<TensorInput> MuxBatch::inputs() const {
  std::vector<TensorInput> inputs(pads_.size());
  for (size_t i = 0; i < pads_.size(); ++i)
    if (has_picture(i))
      inputs[i] = {frames_[i].buffer.get(), &camera_of(pads_[i]).input, GST_PAD_NAME(pads_[i]),
                   nullptr, seen_source(pads_[i]).direction};
  return inputs;
}

void MuxBatch::drop_faulty(const std::vector<MadePicture> &made) {
  for (size_t i = 0; i < pads_.size(); ++i)
    if (made[i].fault) frames_[i] = {};
}

std::vector<BatchSlot> MuxBatch::wholes() const {
  std::vector<BatchSlot> slots(pads_.size());
  for (size_t i = 0; i < pads_.size(); ++i) {
    if (pads_[i] == nullptr) continue;
    BatchSlot &slot = slots[i];
    slot.pad_index = camera_of(pads_[i]).index;
    slot.stream_id = camera_of(pads_[i]).stream_id;
    if (has_batch_streams()) slot.events = &stream_events_of(pads_[i]);
    if (has_picture(i)) set_picture(slot, frames_[i].buffer.get(), frames_[i].time);
  }
  return slots;
}

}  // namespace cudatensor
