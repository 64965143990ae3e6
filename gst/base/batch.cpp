// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/batch.h"

namespace cudatensor {

NormalizeParams params_with(const NormalizeParams &params, const RegionSettings &regions) {
  NormalizeParams result = params;
  result.pad_outside = regions.source != RegionSource::none && regions.edge == RegionEdge::pad;
  return result;
}

void append_slots(std::vector<Slot> &slots, const Source &source, const ConstImage &picture,
                  const FoundRegions &found) {
  for (const FoundRegion &each : found.regions)
    slots.push_back(each.is_outside ? Slot{} : Slot{source, picture, each.region});
}

void append_batch_slots(std::vector<BatchSlot> &slots, const BatchSlot &picture, FoundRegions found,
                        size_t count, const Geometry *geometries) {
  for (size_t i = 0; i < count; ++i) {
    BatchSlot &slot = slots.emplace_back(picture);
    if (i >= found.regions.size() || found.regions[i].is_outside) {
      slot.picture = nullptr;
      continue;
    }
    slot.geometry = geometries[i];
    if (!found.is_whole) slot.region = found.regions[i];
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

void check_model_sources(const ModelState &model, const FoundRegions &found,
                         const TensorDesc &out) {
  if (model.rule.kind == SourceRule::Kind::none) return;
  for (const FoundRegion &each : found.regions) {
    if (each.is_outside) continue;
    check_model_source(model, each.region.width, each.region.height, static_cast<int>(out.w),
                       static_cast<int>(out.h));
  }
}

}  // namespace cudatensor
