// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context that an element works in.
#pragma once

#include <memory>

#include "gst/cuda/gstcudalibrary.h"
#include "gst/util/ref.h"
#include "kernels/ops.h"

namespace cudatensor {

/// libgstcuda's context, which neighbours and the application share, or where that library is
/// missing the device's primary one. With it goes the backend that was opened in it.
class CudaContext {
 public:
  /// Throws Error where the context cannot be used, as after an error that sticks to it.
  explicit CudaContext(gstcuda::Context *shared);
  /// The primary context.
  explicit CudaContext(int device_id);

  /// Null for the primary context.
  gstcuda::Context *shared() const { return shared_.get(); }
  /// The CUcontext.
  void *handle() const { return handle_; }

  Backend &backend() const { return *backend_; }
  Device &device() const { return *backend_->device(); }

 private:
  Ref<gstcuda::Context> shared_;
  void *handle_;
  std::unique_ptr<Backend> backend_;
};

using CudaContextRef = std::shared_ptr<CudaContext>;

/// Inside it the context is current.
class CudaScope {
 public:
  explicit CudaScope(const CudaContextRef &context)
      : context_(context), scope_(context->handle()) {}

 private:
  CudaContextRef context_;
  ContextScope scope_;
};

/// The context for an element that starts: one that `own` holds, a neighbour's, the application's,
/// or a new one, which `own` then holds. `device_id` -1: any. Throws Error.
CudaContextRef open_cuda_context(GstElement *element, int device_id, gstcuda::Context **own);

/// Throws what keeps CUDA from working on a device, after a function of libgstcuda, which does not
/// say, has failed.
[[noreturn]] void fail_in_libgstcuda(const char *function, int device_id);

/// Keeps `context` in `slot` instead of what was there; either may be null.
void replace(gstcuda::Context *&slot, gstcuda::Context *context);

}  // namespace cudatensor
