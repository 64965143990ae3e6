// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context that an element works in.
#pragma once

#include <memory>

#include "gstcudalibrary.h"
#include "kernels/ops.h"

namespace cudatensor {

/// libgstcuda's context, which neighbours and the application share, or where that library is
/// missing the device's primary one. With it goes the backend that was opened in it.
class CudaContext {
 public:
  virtual ~CudaContext() = default;
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  /// Makes it the calling thread's current context, until leave().
  virtual void enter() = 0;
  virtual void leave() noexcept = 0;

  /// Null for the primary context.
  virtual gstcuda::Context *shared() const { return nullptr; }

  int device_id() const { return device_id_; }
  Backend &backend() const { return *backend_; }
  Device &device() const { return *backend_->device(); }

 protected:
  explicit CudaContext(int device_id) : device_id_(device_id) {}
  /// For constructors.
  void open_backend();

 private:
  int device_id_;
  std::unique_ptr<Backend> backend_;
};

using CudaContextRef = std::shared_ptr<CudaContext>;

/// Inside it the context is current.
class CudaScope {
 public:
  explicit CudaScope(const CudaContextRef &context) : context_(context) { context_->enter(); }
  ~CudaScope() { context_->leave(); }
  CudaScope(const CudaScope &) = delete;
  CudaScope &operator=(const CudaScope &) = delete;

 private:
  CudaContextRef context_;
};

/// The context for an element that starts: one that `own` holds, a neighbour's, the application's,
/// or a new one, which `own` then holds. `device_id` -1: any. Throws Error.
CudaContextRef open_cuda_context(GstElement *element, int device_id, gstcuda::Context **own);

/// One that a memory came with.
CudaContextRef wrap_cuda_context(gstcuda::Context *context);

/// Keeps `context` in `slot` instead of what was there; either may be null.
void replace(gstcuda::Context *&slot, gstcuda::Context *context);

/// A property of the context.
int device_id_of(gstcuda::Context *context);

}  // namespace cudatensor
