// SPDX-License-Identifier: LGPL-2.1-or-later
// Synchronization between the stream that fills a tensor and the consumer's stream.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <optional>

#include "gst/cuda/gstcudalibrary.h"
#include "kernels/device.h"

namespace cudatensor {

/// Returns libgstcuda. Throws if CUDAMemory cannot be used.
const gstcuda::Library &require_library();

/// The CUDA context, device and stream of a GstCudaMemory.
struct CudaLocation {
  void *context;  ///< a CUcontext
  int device;
  Stream stream;  ///< has no handle if the memory has no stream
};

/// Returns the location of the memory, which must outlive the result.
CudaLocation location_of(gstcuda::Memory *memory);

/// Returns whether the context is the device's primary context, which the CUDA runtime uses. Throws
/// Error.
bool is_primary(const CudaLocation &place);

/// Makes work queued on `consumer` from now on wait for the work that fills the memory. Throws
/// Error, also if the consumer's stream cannot be used in the memory's context.
void make_consumer_wait(const CudaLocation &place, Stream consumer);

/// Calls `release` so that later writes to the memory wait for the work queued so far on
/// `consumer`, or on all streams of the context if there is no consumer stream. If the memory's
/// stream can wait, `release` is called at once; otherwise it is called when the work is complete,
/// possibly on another thread. Errors are logged, and `release` is then called without waiting.
void release_after(const CudaLocation &place, std::optional<Stream> consumer,
                   std::function<void()> let_go);

}  // namespace cudatensor
