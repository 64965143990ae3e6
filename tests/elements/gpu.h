// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPU as neighbours of the elements use it: contexts, memory and streams of libgstcuda.
#pragma once

#include <memory>

#include "backend.h"
#include "gst/cuda/gstcudalibrary.h"
#include "kernels/ops.h"
#include "picture.h"

namespace cudatensor {

/// Skipped where there is no GPU; elements run on CUDA.
class GpuTest : public testing::Test {
 protected:
  /// With `own_contexts` elements look for a context as they do outside of tests.
  explicit GpuTest(bool own_contexts = false) : scope_(TestBackend::cuda, own_contexts) {}
  void SetUp() override;

 private:
  TestBackend asked_ = test_backend();
  BackendScope scope_;
};

/// "video/x-raw,…" as "video/x-raw(memory:CUDAMemory),…".
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
/// The device's primary context, as the CUDA runtime uses it, wrapped as applications do.
ContextRef wrap_primary_context(int device = 0);
/// What carries a context from element to element.
Ref<GstContext> message_of(gstcuda::Context *context);
/// What the other side of a pad answers to the query for a context; null where it has none.
ContextRef ask_for_context(GstPad *pad);

/// The first device's, which elements share; it stays until the process ends.
gstcuda::Context *shared_context();
void share_context(GstElement *element);
/// For a process that counts what it leaves behind.
void release_shared_context();

/// Whether memories know their streams: since GStreamer 1.24.
bool has_streams();
StreamRef new_stream(gstcuda::Context *context = shared_context());

/// A context that is current while this lives.
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

/// The CUcontext that is current in this thread; null where none is.
void *current_context();

Stream handle_of(gstcuda::Stream *stream);

/// Bytes of device memory that nobody holds.
size_t free_device_memory(gstcuda::Context *context = shared_context());

// --------------------------------------------------------------------------------------- memory

/// Where CUDAMemory is, and on which stream; null is none.
struct CudaLocation {
  gstcuda::Context *context = shared_context();
  gstcuda::Stream *stream = nullptr;
};

/// The buffer's bytes in one GstCudaMemory of exactly their number, with its times and its
/// GstVideoMeta.
BufferRef to_cuda(const BufferRef &buffer, const CudaLocation &place = {});
/// A picture in a buffer of libgstcuda's pool, whose rows are padded.
BufferRef pooled(const Picture &picture, const CudaLocation &place = {});
/// Whether that pool makes pictures of this format and height.
bool has_pool(const ImageDesc &desc);

gstcuda::Stream *stream_of(GstBuffer *buffer);

/// The address of a buffer's one memory on the device; with `write`, libgstcuda is told so.
uint8_t *device_address_of(GstBuffer *buffer, bool write = false);
/// All bytes of a buffer's one memory, read from the device without libgstcuda.
Bytes device_bytes_of(GstBuffer *buffer);

/// Bytes of the host that the device reads and writes while others go on.
class PinnedBytes {
 public:
  PinnedBytes(Device &device, const Bytes &bytes);

  /// Queues a copy to a buffer's one memory.
  void write_to(GstBuffer *buffer, Stream stream) const;
  /// Queues a copy from there.
  void read_from(GstBuffer *buffer, Stream stream);
  Bytes bytes() const;

 private:
  Device &device_;
  std::unique_ptr<Memory> memory_;
};

/// Holds a stream up until it is opened, or many seconds have passed. While it is closed, nothing
/// may be called that waits for all of the device: no allocation, and no kernel for the first time.
class Gate {
 public:
  /// In the current context.
  explicit Gate(Stream stream);
  ~Gate() { open(); }
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;

  void open();
  /// Whether what is queued behind it has not begun.
  bool holds() const;

 private:
  struct State;
  static void wait(void *state);

  std::shared_ptr<State> state_;
};

}  // namespace cudatensor
