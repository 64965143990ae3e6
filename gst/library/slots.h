// SPDX-License-Identifier: LGPL-2.1-or-later
// What the metas of a buffer say, as plain structs.
#pragma once

#include <optional>
#include <vector>

#include "gstcudatensor.h"

namespace cudatensor {

/// Nothing where the buffer carries no geometry.
std::optional<GstCudaTensorGeometry> read_geometry_meta(GstBuffer *buffer);

/// The slots of a batch, which point into the buffer's meta: the buffer must stay, and keep it.
std::vector<GstCudaTensorSlot> read_batch_meta(GstBuffer *buffer);

}  // namespace cudatensor
