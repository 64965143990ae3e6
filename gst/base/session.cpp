// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/session.h"

#include "gst/cuda/cudamemory.h"
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

GstMapFlags map_flags(const gstcuda::Memory *memory, GstMapFlags access) {
  return memory != nullptr ? static_cast<GstMapFlags>(access | gstcuda::kMapCuda) : access;
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
    : context_(context), order_(device().make_event()) {
  shared_stream_ = new_shared_stream(context_->shared());
  if (shared_stream_ == nullptr) own_stream_ = device().make_stream();
}

CudaSession::~CudaSession() {
  // What is in use must not go; a stream that fails here has failed a frame before.
  try {
    device().synchronize(handle_of(last_used_));
  } catch (const Error &) {
  }
  for (Kept &kept : kept_) gst_buffer_replace(&kept.buffer, nullptr);
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

/// use() orders all streams: where one has not passed, no later one has.
void CudaSession::keep(GstBuffer *buffer, Stream stream) {
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

void CudaSession::drop_oldest_kept() {
  gst_buffer_replace(&oldest_kept().buffer, nullptr);
  first_kept_ = (first_kept_ + 1) % kept_.size();
  --kept_in_use_;
}

Transfers &CudaSession::transfers(size_t number) {
  while (transfers_.size() <= number) transfers_.emplace_back(device());
  return transfers_[number];
}

// --- frames ------------------------------------------------------------------------------------

gstcuda::Memory *own_memory(const CudaSession &session, GstBuffer *buffer) {
  gstcuda::Memory *memory = cuda_memory_of(buffer);
  return memory != nullptr && memory->context == session.context()->shared() ? memory : nullptr;
}

Stream use_stream(CudaSession &session, gstcuda::Stream *in, gstcuda::Stream *out) {
  gstcuda::Stream *stream = out != nullptr ? out : in != nullptr ? in : session.stream();
  session.use(stream);
  return session.handle_of(stream);
}

CudaInput::CudaInput(CudaSession &session, GstBuffer *buffer, size_t transfers)
    : session_(session),
      buffer_(buffer),
      memory_(own_memory(session, buffer)),
      transfers_(session.transfers(transfers)) {
  if (memory_ != nullptr) own_stream_ = stream_of(memory_);
}

GstMapFlags CudaInput::flags() const { return map_flags(memory_, GST_MAP_READ); }

/// After the map, which may have queued an upload of libgstcuda's.
void CudaInput::order(Stream stream) {
  if (own_stream_ != nullptr) session_.order(session_.handle_of(own_stream_), stream);
}

Planes CudaInput::upload(const Planes &host, Stream stream) {
  return transfers_.upload(host, is_pinned(buffer_), stream);
}

ConstImage CudaInput::luminance(const ConstImage &mapped, Stream stream) {
  const FormatLayout layout = layout_of(mapped.desc.format);
  if (memory_ != nullptr || layout.model != ColorModel::yuv) return view(mapped, stream);
  Planes host = planes_of(mapped);
  for (size_t i = 0; i < host.plane.size(); ++i)
    if (i != layout.component[0].plane) host.plane[i].rows = 0;
  return with_planes(mapped, upload(host, stream));
}

void CudaInput::finish(Stream stream) {
  if (own_stream_ != nullptr) session_.order(stream, session_.handle_of(own_stream_));
}

bool CudaInput::is_read_later() const {
  const bool copied = memory_ == nullptr && !is_pinned(buffer_);
  return own_stream_ == nullptr && !copied;
}

CudaOutput::CudaOutput(CudaSession &session, GstBuffer *buffer)
    : session_(session), buffer_(buffer), memory_(own_memory(session, buffer)) {
  if (memory_ != nullptr) own_stream_ = stream_of(memory_);
}

GstMapFlags CudaOutput::flags() const { return map_flags(memory_, GST_MAP_WRITE); }

void CudaOutput::finish(Stream stream) {
  if (memory_ == nullptr) session_.transfers().download(host_, is_pinned(buffer_), stream);
  if (completes_later()) return;
  session_.device().synchronize(stream);
  if (memory_ == nullptr) session_.transfers().finish();
}

}  // namespace cudatensor
