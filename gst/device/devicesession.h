// SPDX-License-Identifier: LGPL-2.1-or-later
// A session on a device: the order of its work, the buffers that work still reads, and transfers.
// What depends on the kind of the device, a derived class adds: memory, streams and pools of
// GStreamer's library for it.
#pragma once

#include <gst/gst.h>

#include <deque>

#include "gst/device/session.h"
#include "gst/device/transfers.h"
#include "gst/util/ref.h"
#include "kernels/eventring.h"

namespace cudatensor {

/// A stream of GStreamer's library for the device, which elements share. Null where there is none.
using SharedStream = GstMiniObject;

/// A session on a device. Must be used and destroyed within its SessionScope.
class DeviceSession : public Session {
 public:
  Backend &backend() override { return context_->backend(); }
  DeviceSession *device_session() override { return this; }
  void synchronize() override { device().synchronize(last_stream()); }
  void drain() override;

  const DeviceContextRef &context() const { return context_; }
  Device &device() const { return context_->device(); }
  /// Returns the object for the transfers of a frame. Each number has separate memory.
  Transfers &transfers(size_t number = 0);

  /// The stream for frames whose memory has none; null if the library has no streams, in which case
  /// the session uses its own.
  SharedStream *stream() const { return shared_stream_.get(); }
  /// Uses the stream of a neighboring element from now on.
  void adopt(SharedStream *stream);

  /// Makes work queued on `after` from now on wait for the work queued on `before`. Does not block.
  void order(Stream before, Stream after);
  /// Makes `stream` wait for the previous frame. Called before a frame is queued, because frames
  /// share the scratch memory of operations and transfers and must run in order. Null means the
  /// session's own stream.
  void use(SharedStream *stream);
  /// The stream of the last frame that was queued.
  Stream last_stream() const { return handle_of(last_used_.get()); }
  Stream handle_of(SharedStream *stream) const;
  /// Keeps a buffer until the work queued so far is complete and the next buffer is kept.
  void keep(GstBuffer *buffer, Stream stream);

  /// Memory of a buffer that kernels can use where it is.
  struct Place {
    bool on_device;        ///< false: the frame goes through the host
    SharedStream *stream;  ///< of the memory; null if it has none
  };
  virtual Place place_of(GstBuffer *buffer) const = 0;
  /// The flags that map such memory for kernels.
  virtual GstMapFlags device_map_flags(GstMapFlags access) const = 0;
  /// Whether kernels can read what the device's run-time library has allocated on this GPU.
  virtual bool reads_memory_of(int gpu) const = 0;

  /// An allocator of memory on the device, or of pinned host memory.
  virtual GstAllocator *make_device_allocator() const = 0;
  virtual GstAllocator *make_pinned_allocator() const = 0;
  /// Whether all memory of a buffer is pinned.
  virtual bool is_pinned(GstBuffer *buffer) const = 0;
  /// Whether other elements can share the memory of the device.
  virtual bool is_shared() const = 0;
  /// A pool of pictures on the device; null if the library has none for these caps.
  virtual GstBufferPool *new_device_pool(const GstCaps *caps) const = 0;
  /// Whether a pool gives memory of this session's context.
  virtual bool is_own_pool(GstBufferPool *pool) const = 0;
  /// Adds the session's stream to the configuration of a device pool.
  virtual void add_stream(GstStructure *pool_config) const = 0;

 protected:
  /// `stream`: a new one of the library; null if the library has none.
  DeviceSession(DeviceContextRef context, SharedStream *stream);
  /// To be called by the destructor of the derived class, while handles of streams can be asked for.
  void finish();
  virtual Stream shared_handle_of(SharedStream *stream) const = 0;

 private:
  using StreamRef = Ref<SharedStream>;
  static StreamRef reference_to(SharedStream *stream);

  DeviceContextRef context_;
  StreamRef shared_stream_;
  std::unique_ptr<OwnedStream> own_stream_;  // if the library has no streams
  StreamRef last_used_;
  std::unique_ptr<Event> order_;
  std::deque<Transfers> transfers_;
  EventRing<Ref<GstBuffer>> kept_;
};

}  // namespace cudatensor
