// SPDX-License-Identifier: LGPL-2.1-or-later
// A session runs the operations of an element, on the CPU or on a stream of a CUDA context.
#pragma once

#include <deque>

#include "gst/base/transfers.h"
#include "gst/cuda/cudacontext.h"
#include "gst/util/enums.h"
#include "gst/util/ref.h"
#include "kernels/eventring.h"
#include "kernels/ops.h"

namespace cudatensor {

class CudaSession;

/// The CPU, or a CUDA context and one of its streams.
class Session {
 public:
  virtual ~Session() = default;

  virtual BackendChoice kind() const { return BackendChoice::cpu; }
  virtual Backend &backend() = 0;
  /// Null for the CPU.
  virtual CudaSession *cuda() { return nullptr; }
};

std::unique_ptr<Session> make_cpu_session(guint threads);

/// Makes the context current for the lifetime of the scope. Does nothing for the CPU.
class SessionScope {
 public:
  explicit SessionScope(Session &session);

 private:
  std::optional<CudaScope> scope_;
};

/// A session on a GPU. Must be used and destroyed within its SessionScope.
class CudaSession final : public Session {
 public:
  /// Creates a stream.
  explicit CudaSession(const CudaContextRef &context);
  ~CudaSession() override;

  BackendChoice kind() const override { return BackendChoice::cuda; }
  Backend &backend() override { return context_->backend(); }
  CudaSession *cuda() override { return this; }

  const CudaContextRef &context() const { return context_; }
  Device &device() const { return context_->device(); }
  /// Returns the object for the transfers of a frame. Each number has separate memory.
  Transfers &transfers(size_t number = 0);

  /// The stream for frames whose memory has none; null if libgstcuda has no streams, in which case
  /// the session uses its own.
  gstcuda::Stream *stream() const { return shared_stream_; }
  /// Uses the stream of a neighboring element from now on.
  void adopt(gstcuda::Stream *stream);

  /// Makes work queued on `after` from now on wait for the work queued on `before`. Does not block.
  void order(Stream before, Stream after);
  /// Makes `stream` wait for the previous frame. Called before a frame is queued, because frames
  /// share the scratch memory of operations and transfers and must run in order. Null means the
  /// session's own stream.
  void use(gstcuda::Stream *stream);
  /// The stream of the previous frame.
  Stream last_stream() const { return handle_of(last_used_); }
  Stream handle_of(gstcuda::Stream *stream) const;

  /// Keeps a buffer until the work queued so far is complete and the next buffer is kept.
  void keep(GstBuffer *buffer, Stream stream);
  /// Waits for the work that uses kept buffers, and releases them.
  void drain();

 private:
  CudaContextRef context_;
  std::unique_ptr<OwnedStream> own_stream_;  // if libgstcuda has no streams
  gstcuda::Stream *shared_stream_ = nullptr;
  gstcuda::Stream *last_used_ = nullptr;
  std::unique_ptr<Event> order_;
  std::deque<Transfers> transfers_;
  EventRing<Ref<GstBuffer>> kept_;
};

}  // namespace cudatensor
