// SPDX-License-Identifier: LGPL-2.1-or-later
// The slots of a batch, for the operation and for the batch meta.
#pragma once

#include <vector>

#include "gst/base/modelproperty.h"
#include "gst/base/regions.h"
#include "gst/meta/batchmeta.h"
#include "kernels/normalize.h"

namespace cudatensor {

/// The parameters of an operation for regions with these settings.
NormalizeParams params_with(const NormalizeParams &params, const RegionSettings &regions);

/// Appends a slot for each region of a picture; an empty one for a region outside of it.
void append_slots(std::vector<Slot> &slots, const Source &source, const ConstImage &picture,
                  const FoundRegions &found);

/// Appends `count` slots for the meta. Slots after the last region are empty. `picture` is a slot
/// for the whole picture without its geometry; `geometries` are those of the slots.
void append_batch_slots(std::vector<BatchSlot> &slots, const BatchSlot &picture, FoundRegions found,
                        size_t count, const Geometry *geometries);

/// Describes the slots in the metas of a batch.
void attach_batch_metas(GstBuffer *batch, const std::vector<BatchSlot> &slots, guint left_out);

/// Throws Error if a model's file asks for another tensor of one of these regions.
void check_model_sources(const ModelState &model, const FoundRegions &found, const TensorDesc &out);

}  // namespace cudatensor
