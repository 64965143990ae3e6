// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/slots.h"

namespace cudatensor {

void append_slots(std::vector<Slot> &slots, const Source &source, const ConstImage &picture,
                  const FoundRegions &found) {
  for (const FoundRegion &each : found.regions) {
    if (each.is_invalid)
      slots.push_back({});
    else if (each.matrix)
      slots.push_back({source, picture, {}, each.matrix});
    else
      slots.push_back({source, picture, each.turned});
  }
}

void DescribedSlots::add(const BatchSlot &picture, const FoundRegions &found, size_t count,
                         const Geometry *geometries) {
  left_out += found.left_out;
  show_nothing &= found.show_nothing();
  for (size_t i = 0; i < count; ++i) {
    BatchSlot &slot = slots.emplace_back(picture);
    if (i >= found.regions.size() || found.regions[i].is_invalid) {
      slot.picture = nullptr;
      continue;
    }
    slot.geometry = geometries[i];
    if (found.is_whole) continue;
    slot.region = found.regions[i];
    if (slot.region->matrix) slot.region->region = slot.geometry.region;
  }
}

void attach_batch_metas(GstBuffer *batch, const std::vector<BatchSlot> &slots, guint left_out) {
  attach_batch(batch, slots, left_out);
  if (!has_batch_streams() || batch->pool == nullptr) return;
  std::vector<BatchStream> streams;
  streams.reserve(slots.size());
  for (const BatchSlot &slot : slots)
    streams.push_back({slot.events, slot.events != nullptr ? slot.picture : nullptr});
  attach_batch_streams(batch, streams);
}

void attach_slots(GstBuffer *batch, const DescribedSlots &described) {
  if (described.show_nothing) GST_BUFFER_FLAG_SET(batch, GST_BUFFER_FLAG_GAP);
  attach_batch_metas(batch, described.slots, described.left_out);
}

}  // namespace cudatensor
