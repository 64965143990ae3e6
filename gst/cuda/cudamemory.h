// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocators for GstCudaMemory and for pinned host memory.
#pragma once

#include <optional>

#include "gst/cuda/cudacontext.h"
#include "gst/cuda/gstcudalibrary.h"
#include "kernels/error.h"

namespace cudatensor {

/// Whether all memories of the buffer were allocated as pinned by make_pinned_allocator().
bool is_pinned(GstBuffer *buffer);

/// The following allocators return null if memory is exhausted, as GStreamer's pools expect, and
/// store the Error for take_allocation_failure(). Their memories keep the context alive.

/// Allocates GstCudaMemory of exactly the requested size, aligned to 256 bytes. Its operations are
/// queued on `stream`, which may be null.
GstAllocator *make_cuda_allocator(const CudaContextRef &context, gstcuda::Stream *stream);
/// Allocates pinned host memory, or pageable memory if no pinned memory is available.
GstAllocator *make_pinned_allocator(const CudaContextRef &context);

/// Returns and clears the Error stored since the last call, if any.
std::optional<Error> take_allocation_failure(GstAllocator *allocator);

}  // namespace cudatensor
