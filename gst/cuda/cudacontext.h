// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context that an element uses.
#pragma once

#include <memory>

#include "gst/cuda/gstcudalibrary.h"
#include "gst/device/devicecontext.h"
#include "gst/util/ref.h"

namespace cudatensor {

/// A CUDA context and the backend opened in it. The context is libgstcuda's, which neighbors and
/// the application share, or the device's primary context if libgstcuda is not installed.
class CudaContext final : public DeviceContext {
 public:
  /// Throws Error if the context cannot be used, for example after a sticky CUDA error.
  explicit CudaContext(gstcuda::Context *shared);
  /// Uses the primary context.
  explicit CudaContext(int device_id);

  /// Null for the primary context.
  gstcuda::Context *shared() const { return shared_.get(); }
  /// The CUcontext.
  void *handle() const override { return handle_; }
  /// Whether it is the primary context of this device. Throws Error.
  bool is_primary(int device_id) const { return handle_ == primary_context(device_id); }

  Backend &backend() const override { return *backend_; }

 private:
  Ref<gstcuda::Context> shared_;
  void *handle_;
  std::unique_ptr<Backend> backend_;
};

using CudaContextRef = std::shared_ptr<CudaContext>;

/// Returns the context for an element that starts: the one in `own`, a neighbor's, the
/// application's, or a new one, which is stored in `own`. A `device_id` of -1 allows any device.
/// Throws Error.
CudaContextRef open_cuda_context(GstElement *element, int device_id, gstcuda::Context **own);

/// Returns the primary context of a device, in which the CUDA runtime and DeepStream allocate
/// memory; as libgstcuda's, if it is installed, so that neighbors can share it. Throws Error.
CudaContextRef open_primary_context(int device_id);

/// Throws an Error for a function of libgstcuda that has failed without reporting a cause: the CUDA
/// error that a similar operation in the device's primary context returns, or a general Error.
[[noreturn]] void throw_libgstcuda_error(const char *function, int device_id);

/// Stores a reference to `context` in `slot` and releases the previous one. Either may be null.
void replace(gstcuda::Context *&slot, gstcuda::Context *context);

}  // namespace cudatensor
