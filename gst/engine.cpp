// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine.h"

#include "cudamemory.h"
#include "kernels/error.h"
#include "kernels/fault.h"

namespace cudatensor {
namespace {

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(guint threads) : backend_(open_cpu_backend(threads)) {}
  Backend &backend() override { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

/// Keeps `stream` in `slot` instead of what was there.
void replace(gstcuda::Stream *&slot, gstcuda::Stream *stream) {
  gst_mini_object_replace(reinterpret_cast<GstMiniObject **>(&slot),
                          reinterpret_cast<GstMiniObject *>(stream));
}

// Frames that a source may be ahead of the device.
constexpr size_t kMostKept = 32;

gstcuda::Stream *new_shared_stream(gstcuda::Context *context) {
  if (context == nullptr || !gstcuda::loaded().has_streams()) return nullptr;
  gstcuda::Stream *stream = next_fault() != 0 ? nullptr : gstcuda::loaded().stream_new(context);
  if (stream == nullptr) fail_in_libgstcuda("gst_cuda_stream_new", device_id_of(context));
  return stream;
}

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(guint threads) {
  return std::make_unique<CpuEngine>(threads);
}

EngineScope::EngineScope(Engine &engine) {
  if (engine.cuda() != nullptr) scope_.emplace(engine.cuda()->context());
}

// --- CudaEngine --------------------------------------------------------------------------------

CudaEngine::CudaEngine(const CudaContextRef &context)
    : context_(context), order_(device().make_event()), transfers_(device()) {
  shared_stream_ = new_shared_stream(context_->shared());
  if (shared_stream_ == nullptr) own_stream_ = device().make_stream();
}

CudaEngine::~CudaEngine() {
  // What is in use must not go; a stream that fails here has failed a frame before.
  try {
    device().synchronize(handle_of(last_used_));
  } catch (const Error &) {
  }
  for (Kept &kept : kept_) gst_buffer_replace(&kept.buffer, nullptr);
  replace(last_used_, nullptr);
  replace(shared_stream_, nullptr);
}

Stream CudaEngine::handle_of(gstcuda::Stream *stream) const {
  if (stream != nullptr) return {gstcuda::loaded().stream_get_handle(stream)};
  return own_stream_ != nullptr ? own_stream_->get() : handle_of(shared_stream_);
}

void CudaEngine::adopt(gstcuda::Stream *stream) { replace(shared_stream_, stream); }

void CudaEngine::order(Stream before, Stream after) {
  if (before.handle == after.handle) return;
  order_->record(before);
  order_->hold(after);
}

void CudaEngine::use(gstcuda::Stream *stream) {
  if (last_used_ != nullptr) order(handle_of(last_used_), handle_of(stream));
  if (last_used_ != stream) replace(last_used_, stream);
}

/// use() orders all streams: where one has not passed, no later one has.
void CudaEngine::keep(GstBuffer *buffer, Stream stream) {
  while (kept_in_use_ > 0 && oldest_kept().done->passed()) drop_oldest_kept();
  if (kept_in_use_ == kept_.size() && kept_.size() < kMostKept) {
    kept_.insert(kept_.begin() + first_kept_, {device().make_event(), nullptr});
    first_kept_ = (first_kept_ + 1) % kept_.size();
  } else if (kept_in_use_ == kept_.size()) {
    oldest_kept().done->wait();
    drop_oldest_kept();
  }
  Kept &next = kept_[(first_kept_ + kept_in_use_) % kept_.size()];
  next.done->record(stream);
  gst_buffer_replace(&next.buffer, buffer);
  ++kept_in_use_;
}

void CudaEngine::drop_oldest_kept() {
  gst_buffer_replace(&oldest_kept().buffer, nullptr);
  first_kept_ = (first_kept_ + 1) % kept_.size();
  --kept_in_use_;
}

// --- CudaFrame ---------------------------------------------------------------------------------

CudaFrame::CudaFrame(CudaEngine &engine, GstBuffer *in, GstBuffer *out)
    : engine_(engine),
      in_buffer_(in),
      out_buffer_(out),
      in_(own_memory(in)),
      out_(out != nullptr ? own_memory(out) : nullptr) {
  if (in_ != nullptr) in_stream_ = stream_of(in_);
  if (out_ != nullptr) out_stream_ = stream_of(out_);
  gstcuda::Stream *stream = choose_stream();
  stream_ = engine_.handle_of(stream);
  engine_.use(stream);
}

/// After the map, which may have queued an upload of libgstcuda's.
void CudaFrame::order_input() {
  if (in_stream_ != nullptr) engine_.order(engine_.handle_of(in_stream_), stream_);
}

/// A GstCudaMemory that kernels in our context can use; others are read through the host.
gstcuda::Memory *CudaFrame::own_memory(GstBuffer *buffer) const {
  gstcuda::Memory *memory = cuda_memory_of(buffer);
  return memory != nullptr && memory->context == engine_.context()->shared() ? memory : nullptr;
}

/// The output's own stream completes it in order; without one it is best read where it was made.
gstcuda::Stream *CudaFrame::choose_stream() const {
  if (out_stream_ != nullptr) return out_stream_;
  return in_stream_ != nullptr ? in_stream_ : engine_.stream();
}

ConstImage CudaFrame::luminance(const ConstImage &mapped) {
  const FormatLayout layout = layout_of(mapped.desc.format);
  if (in_ != nullptr || layout.model != ColorModel::yuv) return input(mapped);
  Planes host = planes_of(mapped);
  for (size_t i = 0; i < host.plane.size(); ++i)
    if (i != layout.component[0].plane) host.plane[i].rows = 0;
  return with_planes(mapped, upload(host));
}

Planes CudaFrame::upload(const Planes &host) {
  return engine_.transfers().upload(host, is_pinned(in_buffer_), stream_);
}

void CudaFrame::finish() {
  // Whoever writes to the input next does so after us.
  if (in_stream_ != nullptr) engine_.order(stream_, engine_.handle_of(in_stream_));
  const bool to_host = out_buffer_ != nullptr && out_ == nullptr;
  if (to_host) engine_.transfers().download(host_out_, is_pinned(out_buffer_), stream_);
  if (completes_later()) return;
  engine_.device().synchronize(stream_);
  if (to_host) engine_.transfers().finish();
}

bool CudaFrame::needs_input() const {
  const bool in_order = in_ != nullptr && in_stream_ != nullptr;
  const bool copied = in_ == nullptr && !is_pinned(in_buffer_);
  return completes_later() && !in_order && !copied;
}

}  // namespace cudatensor
