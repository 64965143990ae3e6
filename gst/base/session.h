// SPDX-License-Identifier: LGPL-2.1-or-later
// A session computes for an element: on the CPU, or in a CUDA context on a stream. And the frames that it
// works on, wherever their memory is.
#pragma once

#include <deque>

#include "gst/base/mapping.h"
#include "gst/base/transfers.h"
#include "gst/cuda/cudacontext.h"
#include "gst/util/enums.h"

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

  /// Keeps a buffer until the stream has come here, and then until the next one is kept.
  void keep(GstBuffer *buffer, Stream stream);

 private:
  struct Kept {
    std::unique_ptr<Event> done;
    GstBuffer *buffer;
  };
  Kept &oldest_kept() { return kept_[first_kept_]; }
  void drop_oldest_kept();

  CudaContextRef context_;
  std::unique_ptr<OwnedStream> own_stream_;  // where libgstcuda has none
  gstcuda::Stream *shared_stream_ = nullptr;
  gstcuda::Stream *last_used_ = nullptr;
  std::unique_ptr<Event> order_;
  std::deque<Transfers> transfers_;
  std::vector<Kept> kept_;  // a circle
  size_t first_kept_ = 0, kept_in_use_ = 0;
};

/// A GstCudaMemory that kernels in the session's context can use: that of the buffer, or null where
/// its frame goes through the host.
gstcuda::Memory *own_memory(const CudaSession &session, GstBuffer *buffer);

/// The picture or tensor in a buffer, to be read on the GPU.
class CudaInput {
 public:
  /// Frames that are worked on at once differ in the number of their transfers.
  CudaInput(CudaSession &session, GstBuffer *buffer, size_t transfers = 0);

  /// Of its memory; null where it has none.
  gstcuda::Stream *own_stream() const { return own_stream_; }
  GstMapFlags flags() const;

  /// The view in device memory, for work on `stream`, of a buffer that was mapped with flags().
  template <class View>
  View view(const View &mapped, Stream stream) {
    if (memory_ == nullptr) return with_planes(mapped, upload(planes_of(mapped), stream));
    order(stream);
    return mapped;
  }
  /// The same of which only luminance is read: other planes of YUV stay on the host.
  ConstImage luminance(const ConstImage &mapped, Stream stream);

  /// After the work was queued on `stream`: whoever writes to the buffer next does so after it.
  void finish(Stream stream);
  /// Whether queued work still reads the buffer, which nothing else keeps as it is.
  bool is_read_later() const;

 private:
  Planes upload(const Planes &host, Stream stream);
  void order(Stream stream);

  CudaSession &session_;
  GstBuffer *buffer_;
  gstcuda::Memory *memory_;  // null: host memory
  gstcuda::Stream *own_stream_ = nullptr;
  Transfers &transfers_;
};

/// The picture or tensor in a buffer, to be written on the GPU.
class CudaOutput {
 public:
  CudaOutput(CudaSession &session, GstBuffer *buffer);

  gstcuda::Stream *own_stream() const { return own_stream_; }
  GstMapFlags flags() const;

  /// The view in device memory of a buffer that was mapped with flags().
  template <class View>
  View view(const View &mapped) {
    if (memory_ != nullptr) return mapped;
    host_ = planes_of(mapped);
    return with_planes(mapped, session_.transfers().make_room(host_));
  }

  /// After the work was queued on `stream`. The buffer is complete then, or its memory knows the
  /// stream that completes it.
  void finish(Stream stream);
  bool completes_later() const { return own_stream_ != nullptr; }

 private:
  CudaSession &session_;
  GstBuffer *buffer_;
  gstcuda::Memory *memory_;  // null: host memory
  gstcuda::Stream *own_stream_ = nullptr;
  Planes host_ = {};
};

/// The stream that a frame is worked on, which the session uses from now on: the output's own one
/// completes it in order; without one a frame is best read where it was made.
Stream use_stream(CudaSession &session, gstcuda::Stream *in, gstcuda::Stream *out);

/// Calls `work` with the views of two buffers and the stream for it. The specs are what VideoMap or
/// TensorMap take.
template <class Work, class InSpec, class OutSpec>
void run_work(Session &session, const Work &work, const InSpec &in_spec, GstBuffer *in,
              const OutSpec &out_spec, GstBuffer *out) {
  if (session.cuda() == nullptr) {
    const Map<InSpec> source(in_spec, in, GST_MAP_READ);
    const Map<OutSpec> target(out_spec, out, GST_MAP_WRITE);
    return work(source.constant(), target.view(), Stream());
  }
  CudaSession &cuda = *session.cuda();
  CudaInput input(cuda, in);
  CudaOutput output(cuda, out);
  const Stream stream = use_stream(cuda, input.own_stream(), output.own_stream());
  const Map<InSpec> source(in_spec, in, input.flags());
  const Map<OutSpec> target(out_spec, out, output.flags());
  work(input.view(source.constant(), stream), output.view(target.view()), stream);
  input.finish(stream);
  output.finish(stream);
  if (output.completes_later() && input.is_read_later()) cuda.keep(in, stream);
}

/// Runs an operation from buffer to buffer.
template <class Operation, class InSpec, class OutSpec>
void run(Session &session, Operation &operation, const InSpec &in_spec, GstBuffer *in,
         const OutSpec &out_spec, GstBuffer *out) {
  run_work(
      session,
      [&](const auto &from, const auto &to, Stream stream) { operation.run(from, to, stream); },
      in_spec, in, out_spec, out);
}

}  // namespace cudatensor
