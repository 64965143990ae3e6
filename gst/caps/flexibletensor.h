// SPDX-License-Identifier: LGPL-2.1-or-later
// The header with which a memory of flexible tensors begins: version 1.0 of NNStreamer's.
#pragma once

#include "gst/caps/tensorlist.h"

namespace cudatensor {

/// The size of the header in bytes.
constexpr gsize kFlexibleHeader = 128;
/// The largest number of dimensions that it has room for.
constexpr size_t kMaxFlexibleRank = 16;

/// Writes kFlexibleHeader bytes. NNStreamer's header ends at a dimension 0: those of a tensor without
/// elements are written as 1, and its memory ends after the header. Throws Error if the header has no
/// such type or too few dimensions.
void write_flexible_header(const TensorShape &shape, void *header);

/// Reads the header of a memory of `size` bytes, of which at least kFlexibleHeader must be readable if
/// it is as large. If the memory ends after the header, the outermost dimension is 0. Throws an
/// Error::Code::frame if that is no header, or one of a tensor that the memory does not hold.
TensorShape read_flexible_header(const void *memory, gsize size);

}  // namespace cudatensor
