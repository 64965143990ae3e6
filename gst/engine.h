// SPDX-License-Identifier: LGPL-2.1-or-later
// What computes for an element, and the frames that it works on, wherever their memory is.
#pragma once

#include "cudacontext.h"
#include "enums.h"
#include "mapping.h"
#include "transfers.h"

namespace cudatensor {

class CudaEngine;

/// The CPU, or a CUDA context and a stream in it.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual BackendChoice kind() const { return BackendChoice::cpu; }
  virtual Backend &backend() = 0;
  /// Null for the CPU.
  virtual CudaEngine *cuda() { return nullptr; }
};

std::unique_ptr<Engine> make_cpu_engine(guint threads);

/// Inside it the context is current. Nothing for the CPU.
class EngineScope {
 public:
  explicit EngineScope(Engine &engine);

 private:
  std::optional<CudaScope> scope_;
};

/// Destroyed and used inside its scope.
class CudaEngine final : public Engine {
 public:
  /// With a stream of its own.
  explicit CudaEngine(const CudaContextRef &context);
  ~CudaEngine() override;

  BackendChoice kind() const override { return BackendChoice::cuda; }
  Backend &backend() override { return context_->backend(); }
  CudaEngine *cuda() override { return this; }

  const CudaContextRef &context() const { return context_; }
  Device &device() const { return context_->device(); }
  Transfers &transfers() { return transfers_; }

  /// The stream for frames whose memory has none; null where libgstcuda has no streams, and the
  /// engine uses one that is not shared.
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
  Transfers transfers_;
  std::vector<Kept> kept_;  // a circle
  size_t first_kept_ = 0, kept_in_use_ = 0;
};

/// One frame on the GPU: which stream it is worked on, and what that means for its buffers.
class CudaFrame {
 public:
  /// `out` is null where nothing is written.
  CudaFrame(CudaEngine &engine, GstBuffer *in, GstBuffer *out);

  Stream stream() const { return stream_; }
  GstMapFlags input_flags() const { return flags(in_ != nullptr, GST_MAP_READ); }
  GstMapFlags output_flags() const { return flags(out_ != nullptr, GST_MAP_WRITE); }

  /// The view in device memory of an input that was mapped with input_flags().
  template <class View>
  View input(const View &mapped) {
    if (in_ == nullptr) return with_planes(mapped, upload(planes_of(mapped)));
    order_input();
    return mapped;
  }
  /// The same of which only luminance is read: other planes of YUV stay on the host.
  ConstImage luminance(const ConstImage &mapped);
  /// The view in device memory of an output that was mapped with output_flags().
  template <class View>
  View output(const View &mapped) {
    if (out_ != nullptr) return mapped;
    host_out_ = planes_of(mapped);
    return with_planes(mapped, engine_.transfers().make_room(host_out_));
  }

  /// After the work was queued, while both are mapped. The output is complete then, or its memory
  /// knows the stream that completes it.
  void finish();
  /// After finish(): whether queued work still reads the input, which nothing else keeps as it is.
  bool needs_input() const;

 private:
  static GstMapFlags flags(bool cuda, GstMapFlags access) {
    return cuda ? static_cast<GstMapFlags>(access | gstcuda::kMapCuda) : access;
  }
  Planes upload(const Planes &host);
  void order_input();
  gstcuda::Memory *own_memory(GstBuffer *buffer) const;
  gstcuda::Stream *choose_stream() const;
  bool completes_later() const { return out_buffer_ == nullptr || out_stream_ != nullptr; }

  CudaEngine &engine_;
  GstBuffer *in_buffer_, *out_buffer_;
  gstcuda::Memory *in_, *out_;  // null: host memory
  gstcuda::Stream *in_stream_ = nullptr, *out_stream_ = nullptr;
  Stream stream_;
  Planes host_out_ = {};
};

/// Runs an operation from buffer to buffer. The specs are what VideoMap or TensorMap take.
template <class Operation, class InSpec, class OutSpec>
void run(Engine &engine, Operation &operation, const InSpec &in_spec, GstBuffer *in,
         const OutSpec &out_spec, GstBuffer *out) {
  if (engine.cuda() == nullptr) {
    const Map<InSpec> source(in_spec, in, GST_MAP_READ);
    const Map<OutSpec> target(out_spec, out, GST_MAP_WRITE);
    return operation.run(source.constant(), target.view());
  }
  CudaFrame frame(*engine.cuda(), in, out);
  const Map<InSpec> source(in_spec, in, frame.input_flags());
  const Map<OutSpec> target(out_spec, out, frame.output_flags());
  operation.run(frame.input(source.constant()), frame.output(target.view()), frame.stream());
  frame.finish();
  if (frame.needs_input()) engine.cuda()->keep(in, frame.stream());
}

}  // namespace cudatensor
