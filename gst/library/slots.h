// SPDX-License-Identifier: LGPL-2.1-or-later
// What the metas of a buffer say, as plain structs.
#pragma once

#include <optional>
#include <vector>

#include "gst/library/gstcudatensor.h"

namespace cudatensor {

/// Nothing where the buffer carries no geometry.
std::optional<GstCudaTensorGeometry> read_geometry_meta(GstBuffer *buffer);

struct BatchContents {
  std::vector<GstCudaTensorSlot> slots;
  guint left_out = 0;
};

/// Its slots point into the buffer's meta: the buffer must stay, and keep it. Empty where there is
/// none.
BatchContents read_batch_meta(GstBuffer *buffer);

}  // namespace cudatensor
