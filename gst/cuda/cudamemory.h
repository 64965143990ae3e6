// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that GPU and CPU share work on: GstCudaMemory, and pinned memory of the host.
#pragma once

#include <optional>

#include "gst/cuda/cudacontext.h"
#include "gst/cuda/gstcudalibrary.h"
#include "kernels/error.h"

namespace cudatensor {

/// Whether all of the buffer's memory is pinned memory of make_pinned_allocator()'s.
bool is_pinned(GstBuffer *buffer);

/// Allocators that return no memory where there is none, as GStreamer's pools expect; the Error is
/// kept for take_allocation_failure(). Memories keep the context alive.

/// Each memory is a GstCudaMemory of exactly the size asked for, aligned to 256 bytes. It is worked
/// on `stream`, which may be null.
GstAllocator *make_cuda_allocator(const CudaContextRef &context, gstcuda::Stream *stream);
/// Where no pinned memory is left, it gives what is not.
GstAllocator *make_pinned_allocator(const CudaContextRef &context);

/// The Error since the last call, if there was one.
std::optional<Error> take_allocation_failure(GstAllocator *allocator);

}  // namespace cudatensor
