// SPDX-License-Identifier: LGPL-2.1-or-later
// A session in a CUDA context, with the memory, streams and pools of libgstcuda.
#pragma once

#include "gst/cuda/cudacontext.h"
#include "gst/cuda/cudamemory.h"
#include "gst/device/devicesession.h"

namespace cudatensor {

class CudaSession final : public DeviceSession {
 public:
  /// Creates a stream. Throws Error.
  explicit CudaSession(const CudaContextRef &context);
  ~CudaSession() override { finish(); }

  BackendChoice kind() const override { return BackendChoice::cuda; }
  const CudaContext &cuda_context() const { return *cuda_context_; }

  Place place_of(GstBuffer *buffer) const override;
  GstMapFlags device_map_flags(GstMapFlags access) const override;
  bool reads_memory_of(int gpu) const override { return cuda_context_->is_primary(gpu); }

  GstAllocator *make_device_allocator() const override;
  GstAllocator *make_pinned_allocator() const override;
  bool is_pinned(GstBuffer *buffer) const override { return cudatensor::is_pinned(buffer); }
  bool is_shared() const override { return cuda_context_->shared() != nullptr; }
  GstBufferPool *new_device_pool(const GstCaps *caps) const override;
  bool is_own_pool(GstBufferPool *pool) const override;
  void add_stream(GstStructure *pool_config) const override;

 private:
  Stream shared_handle_of(SharedStream *stream) const override;

  CudaContextRef cuda_context_;
};

/// A session in this context. Throws Error.
std::unique_ptr<CudaSession> open_cuda_session(const CudaContextRef &context);

}  // namespace cudatensor
