// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/device/devicesession.h"

#include "kernels/error.h"

namespace cudatensor {

DeviceSession::DeviceSession(DeviceContextRef context, SharedStream *stream)
    : context_(std::move(context)),
      shared_stream_(stream),
      own_stream_(stream == nullptr ? device().make_stream() : nullptr),
      order_(device().make_event()),
      kept_(device()) {}

/// Objects that queued work uses may not be destroyed. If the stream fails here, an earlier frame has
/// already reported the error.
void DeviceSession::finish() {
  try {
    synchronize();
  } catch (const Error &) {
  }
}

DeviceSession::StreamRef DeviceSession::reference_to(SharedStream *stream) {
  return StreamRef(stream != nullptr ? gst_mini_object_ref(stream) : nullptr);
}

Stream DeviceSession::handle_of(SharedStream *stream) const {
  if (stream != nullptr) return shared_handle_of(stream);
  return own_stream_ != nullptr ? own_stream_->get() : shared_handle_of(shared_stream_.get());
}

void DeviceSession::adopt(SharedStream *stream) { shared_stream_ = reference_to(stream); }

void DeviceSession::order(Stream before, Stream after) {
  if (before.handle == after.handle) return;
  order_->record(before);
  order_->hold(after);
}

void DeviceSession::use(SharedStream *stream) {
  if (last_used_ != nullptr) order(last_stream(), handle_of(stream));
  if (last_used_.get() != stream) last_used_ = reference_to(stream);
}

/// EventRing requires work that completes in order; use() orders all streams.
void DeviceSession::keep(GstBuffer *buffer, Stream stream) {
  kept_.release_done([](Ref<GstBuffer> &done) { done.reset(); });
  kept_.next().reset(gst_buffer_ref(buffer));
  kept_.in_use_until(stream);
}

void DeviceSession::drain() {
  kept_.release_all([](Ref<GstBuffer> &done) { done.reset(); });
}

Transfers &DeviceSession::transfers(size_t number) {
  while (transfers_.size() <= number) transfers_.emplace_back(device());
  return transfers_[number];
}

}  // namespace cudatensor
