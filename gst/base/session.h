// SPDX-License-Identifier: LGPL-2.1-or-later
// A session computes for an element: on the CPU, or in a CUDA context on a stream.
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

/// The CPU, or a CUDA context and a stream in it.
class Session {
 public:
  virtual ~Session() = default;

  virtual BackendChoice kind() const { return BackendChoice::cpu; }
  virtual Backend &backend() = 0;
  /// Null for the CPU.
  virtual CudaSession *cuda() { return nullptr; }
};

std::unique_ptr<Session> make_cpu_session(guint threads);

/// Inside it the context is current. Nothing for the CPU.
class SessionScope {
 public:
  explicit SessionScope(Session &session);

 private:
  std::optional<CudaScope> scope_;
};

/// Destroyed and used inside its scope.
class CudaSession final : public Session {
 public:
  /// With a stream of its own.
  explicit CudaSession(const CudaContextRef &context);
  ~CudaSession() override;

  BackendChoice kind() const override { return BackendChoice::cuda; }
  Backend &backend() override { return context_->backend(); }
  CudaSession *cuda() override { return this; }

  const CudaContextRef &context() const { return context_; }
  Device &device() const { return context_->device(); }
  /// For the transfers of a frame; those with another number have memory of their own.
  Transfers &transfers(size_t number = 0);

  /// The stream for frames whose memory has none; null where libgstcuda has no streams, and the
  /// session uses one that is not shared.
  gstcuda::Stream *stream() const { return shared_stream_; }
  /// Works on a neighbour's stream from now on.
  void adopt(gstcuda::Stream *stream);

  /// Orders the queued work of `before` before what is queued on `after` next, without waiting.
  void order(Stream before, Stream after);
  /// Called before a frame is queued: operations and transfers have scratch memory, which goes from
  /// frame to frame in order. Null is the stream that is not shared.
  void use(gstcuda::Stream *stream);
  /// Where the frame before was queued.
  Stream last_stream() const { return handle_of(last_used_); }
  Stream handle_of(gstcuda::Stream *stream) const;

  /// Keeps a buffer until the stream comes here, and then until the next one is kept.
  void keep(GstBuffer *buffer, Stream stream);

 private:
  CudaContextRef context_;
  std::unique_ptr<OwnedStream> own_stream_;  // where libgstcuda has none
  gstcuda::Stream *shared_stream_ = nullptr;
  gstcuda::Stream *last_used_ = nullptr;
  std::unique_ptr<Event> order_;
  std::deque<Transfers> transfers_;
  EventRing<Ref<GstBuffer>> kept_;
};

}  // namespace cudatensor
