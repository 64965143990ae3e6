// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/session.h"

#include "kernels/error.h"
#include "kernels/fault.h"

namespace cudatensor {
namespace {

class CpuSession final : public Session {
 public:
  explicit CpuSession(guint threads) : backend_(open_cpu_backend(threads)) {}
  Backend &backend() override { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

/// Replaces the stream in `slot` and its reference.
void replace(gstcuda::Stream *&slot, gstcuda::Stream *stream) {
  gst_mini_object_replace(reinterpret_cast<GstMiniObject **>(&slot),
                          reinterpret_cast<GstMiniObject *>(stream));
}

gstcuda::Stream *new_shared_stream(gstcuda::Context *context) {
  if (context == nullptr || !gstcuda::loaded().has_streams()) return nullptr;
  gstcuda::Stream *stream = next_fault() != 0 ? nullptr : gstcuda::loaded().stream_new(context);
  if (stream == nullptr) throw_libgstcuda_error("gst_cuda_stream_new", device_id_of(context));
  return stream;
}

}  // namespace

std::unique_ptr<Session> make_cpu_session(guint threads) {
  return std::make_unique<CpuSession>(threads);
}

SessionScope::SessionScope(Session &session) {
  if (session.cuda() != nullptr) scope_.emplace(session.cuda()->context());
}

// --- CudaSession --------------------------------------------------------------------------------

CudaSession::CudaSession(const CudaContextRef &context)
    : context_(context), order_(device().make_event()), kept_(device()) {
  shared_stream_ = new_shared_stream(context_->shared());
  if (shared_stream_ == nullptr) own_stream_ = device().make_stream();
}

CudaSession::~CudaSession() {
  // Objects that queued work uses may not be destroyed. If the stream fails here, an earlier frame
  // has already reported the error.
  try {
    device().synchronize(handle_of(last_used_));
  } catch (const Error &) {
  }
  replace(last_used_, nullptr);
  replace(shared_stream_, nullptr);
}

Stream CudaSession::handle_of(gstcuda::Stream *stream) const {
  if (stream != nullptr) return {gstcuda::loaded().stream_get_handle(stream)};
  return own_stream_ != nullptr ? own_stream_->get() : handle_of(shared_stream_);
}

void CudaSession::adopt(gstcuda::Stream *stream) { replace(shared_stream_, stream); }

void CudaSession::order(Stream before, Stream after) {
  if (before.handle == after.handle) return;
  order_->record(before);
  order_->hold(after);
}

void CudaSession::use(gstcuda::Stream *stream) {
  if (last_used_ != nullptr) order(handle_of(last_used_), handle_of(stream));
  if (last_used_ != stream) replace(last_used_, stream);
}

/// EventRing requires work that completes in order; use() orders all streams.
void CudaSession::keep(GstBuffer *buffer, Stream stream) {
  kept_.release_done([](Ref<GstBuffer> &done) { done.reset(); });
  kept_.next().reset(gst_buffer_ref(buffer));
  kept_.in_use_until(stream);
}

void CudaSession::drain() {
  kept_.release_all([](Ref<GstBuffer> &done) { done.reset(); });
}

Transfers &CudaSession::transfers(size_t number) {
  while (transfers_.size() <= number) transfers_.emplace_back(device());
  return transfers_[number];
}

}  // namespace cudatensor
