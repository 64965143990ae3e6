// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPU as other elements use it: libgstcuda's contexts, memory and streams.
#pragma once

#include <memory>

#include "backend.h"
#include "gst/cuda/gstcudalibrary.h"
#include "kernels/ops.h"
#include "picture.h"

namespace cudatensor {

/// Skips tests if there is no GPU; elements run on CUDA.
class GpuTest : public testing::Test {
 protected:
  /// With `own_contexts`, elements find their contexts as they do outside of tests.
  explicit GpuTest(bool own_contexts = false) : scope_(TestBackend::cuda, own_contexts) {}
  void SetUp() override;

 private:
  TestBackend asked_ = test_backend();
  BackendScope scope_;
};

/// Returns "video/x-raw,…" as "video/x-raw(memory:CUDAMemory),…".
std::string in_cuda(const std::string &caps);

// ------------------------------------------------------------------------- contexts and streams

using ContextRef = Ref<gstcuda::Context>;

struct UnrefStream {
  void operator()(gstcuda::Stream *stream) const {
    gst_mini_object_unref(reinterpret_cast<GstMiniObject *>(stream));
  }
};
using StreamRef = std::unique_ptr<gstcuda::Stream, UnrefStream>;

ContextRef new_context(int device = 0);
/// Wraps the device's primary context, which the CUDA runtime uses, as applications do.
ContextRef wrap_primary_context(int device = 0);
/// Returns the GstContext that passes a CUDA context between elements.
Ref<GstContext> message_of(gstcuda::Context *context);
/// Returns the peer's answer to a query for a context; null if it has none.
ContextRef ask_for_context(GstPad *pad);

/// Returns the first device's context, which elements share. It stays until the process ends.
gstcuda::Context *shared_context();
void share_context(GstElement *element);
/// Releases the shared context, for a process that checks for leaks.
void release_shared_context();

/// Returns whether memories know their streams, as since GStreamer 1.24.
bool has_streams();
StreamRef new_stream(gstcuda::Context *context = shared_context());

/// Makes a context current while it lives.
class Entered {
 public:
  explicit Entered(gstcuda::Context *context = shared_context());
  ~Entered();
  Entered(const Entered &) = delete;
  Entered &operator=(const Entered &) = delete;

  Device &device() const { return *backend_->device(); }

 private:
  std::unique_ptr<Backend> backend_;
};

/// Returns the CUcontext that is current in this thread; null if there is none.
void *current_context();

Stream handle_of(gstcuda::Stream *stream);

/// Returns the free bytes of device memory.
size_t free_device_memory(gstcuda::Context *context = shared_context());

// --------------------------------------------------------------------------------------- memory

/// Context and stream of CUDAMemory; null is none.
struct CudaLocation {
  gstcuda::Context *context = shared_context();
  gstcuda::Stream *stream = nullptr;
};

/// Copies a buffer to one GstCudaMemory of exactly its size, with its times and its GstVideoMeta.
BufferRef to_cuda(const BufferRef &buffer, const CudaLocation &place = {});
/// Returns a picture in a buffer of libgstcuda's pool, which pads rows.
BufferRef pooled(const Picture &picture, const CudaLocation &place = {});
/// Returns whether that pool makes pictures of this format and height.
bool has_pool(const ImageDesc &desc);

gstcuda::Stream *stream_of(GstBuffer *buffer);

/// Returns the device address of a buffer's only memory, mapped for writing if `write`.
uint8_t *device_address_of(GstBuffer *buffer, bool write = false);
/// Returns all bytes of a buffer's only memory, read from the device without libgstcuda.
Bytes device_bytes_of(GstBuffer *buffer);

/// Host memory that the device reads and writes asynchronously.
class PinnedBytes {
 public:
  PinnedBytes(Device &device, const Bytes &bytes);

  /// Queues a copy to a buffer's only memory.
  void write_to(GstBuffer *buffer, Stream stream) const;
  /// Queues a copy from a buffer's only memory.
  void read_from(GstBuffer *buffer, Stream stream);
  Bytes bytes() const;

 private:
  Device &device_;
  std::unique_ptr<Memory> memory_;
};

/// Blocks a stream until the gate is opened, or many seconds have passed. While it is closed,
/// nothing that waits for the whole device may be called: no allocation, and no kernel for the
/// first time.
class Gate {
 public:
  /// Closes the gate in the current context.
  explicit Gate(Stream stream);
  ~Gate() { open(); }
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;

  void open();
  /// Returns whether the work queued behind it has not begun.
  bool holds() const;

 private:
  struct State;
  static void wait(void *state);

  std::shared_ptr<State> state_;
};

}  // namespace cudatensor
