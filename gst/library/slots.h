// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a buffer's metas into plain structs.
#pragma once

#include <optional>
#include <vector>

#include "gst/library/gstcudatensor.h"

namespace cudatensor {

/// Returns no value if the buffer carries no geometry.
std::optional<GstCudaTensorGeometry> read_geometry_meta(GstBuffer *buffer);

struct BatchContents {
  std::vector<GstCudaTensorSlot> slots;
  guint left_out = 0;
};

/// Returns the slots of a batch; empty if there is no meta. The slots point into the buffer's meta,
/// so the buffer and its meta must outlive them.
BatchContents read_batch_meta(GstBuffer *buffer);

}  // namespace cudatensor
