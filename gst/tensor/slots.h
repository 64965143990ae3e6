// SPDX-License-Identifier: LGPL-2.1-or-later
// The slots of a tensor, for the operation and for the batch meta.
#pragma once

#include <vector>

#include "gst/meta/batchmeta.h"
#include "kernels/normalize.h"

namespace cudatensor {

/// Appends a slot for each region of a picture; the slot of a region outside the picture is empty.
void append_slots(std::vector<Slot> &slots, const Source &source, const ConstImage &picture,
                  const FoundRegions &found);

/// The slots of a tensor or of a part of it, as its metas describe them.
struct DescribedSlots {
  std::vector<BatchSlot> slots;
  guint left_out = 0;        ///< regions that got no slot
  bool show_nothing = true;  ///< whether no slot is valid

  /// Appends `count` slots of a picture, one for each region in `found`; slots after the last
  /// region are empty. `picture` is a slot for the whole picture without its geometry; `geometries`
  /// holds the geometry of each slot.
  void add(const BatchSlot &picture, const FoundRegions &found, size_t count,
           const Geometry *geometries);
};

/// Writes the metas of a batch.
void attach_batch_metas(GstBuffer *batch, const std::vector<BatchSlot> &slots, guint left_out);

/// Writes the metas of a batch, and marks it as a gap if there is nothing to infer from.
void attach_slots(GstBuffer *batch, const DescribedSlots &described);

}  // namespace cudatensor
