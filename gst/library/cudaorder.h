// SPDX-License-Identifier: LGPL-2.1-or-later
// Who waits for whom between the stream that fills a tensor and the consumer's.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <optional>

#include "gst/cuda/gstcudalibrary.h"
#include "kernels/device.h"

namespace cudatensor {

/// Throws what keeps CUDAMemory from being used.
const gstcuda::Library &usable_library();

/// What is behind a GstCudaMemory.
struct CudaPlace {
  void *context;  ///< a CUcontext
  int device;
  Stream stream;  ///< without a handle where the memory has none
};

/// The memory's; it must stay.
CudaPlace place_of(gstcuda::Memory *memory);

/// Whether the context is the one of the CUDA runtime. Throws Error.
bool is_primary(const CudaPlace &place);

/// What is queued on `consumer` from now on comes after what fills the memory. Throws Error, also
/// where the consumer's stream cannot be used in the memory's context.
void hold_consumer(const CudaPlace &place, Stream consumer);

/// Whoever writes to the memory after `let_go` does so after what `consumer` has queued until now, or
/// without one what all streams of the context have. Where the memory's stream cannot wait for that,
/// `let_go` is called when it is done, maybe by another thread; otherwise now. Errors are logged, and
/// end the waiting.
void let_go_after(const CudaPlace &place, std::optional<Stream> consumer,
                  std::function<void()> let_go);

}  // namespace cudatensor
