// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaMemory in buffers.
#pragma once

#include "gstcudalibrary.h"

namespace cudatensor {

/// The buffer's memory where that is one GstCudaMemory, otherwise null.
gstcuda::Memory *cuda_memory_of(GstBuffer *buffer);

/// The stream that a memory is worked on; null where it has none, as before GStreamer 1.24.
gstcuda::Stream *stream_of(gstcuda::Memory *memory);

}  // namespace cudatensor
