// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/memorypass.h"

#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Returns a buffer for each tensor. They share the memories, so that `buffer` stays writable.
std::vector<Ref<GstBuffer>> parts_of(GstBuffer *buffer, size_t count) {
  const guint memories = gst_buffer_n_memory(buffer);
  if (count != 1 && memories != count)
    throw Error(Error::Code::frame, "a buffer of " + std::to_string(count) + " tensors has " +
                                        std::to_string(memories) + " memories");
  std::vector<Ref<GstBuffer>> parts;
  for (size_t i = 0; i < count; ++i) parts.emplace_back(gst_buffer_new());
  for (guint i = 0; i < memories; ++i)
    gst_buffer_append_memory(parts[count == 1 ? 0 : i].get(), gst_buffer_get_memory(buffer, i));
  return parts;
}

/// Describes a memory as bytes.
TensorDesc bytes_in(GstBuffer *part) {
  const auto size = static_cast<int64_t>(gst_buffer_get_size(part));
  if (size == 0) throw Error(Error::Code::frame, "a tensor has no bytes");
  return {DType::uint8, Layout::nchw, 1, 1, 1, size};
}

}  // namespace

MemoryPass::MemoryPass(Session &session, GstBuffer *buffer, size_t count)
    : session_(session), pass_(session), parts_(parts_of(buffer, count)) {
  for (const Ref<GstBuffer> &part : parts_) pass_.add_input(bytes_in(part.get()), part.get());
  pass_.begin();
  DeviceSession *const device = session.device_session();
  for (size_t i = 0; i < parts_.size(); ++i) {
    GstBuffer *const part = parts_[i].get();
    const TensorMap &map = maps_.emplace_back(bytes_in(part), part, pass_.input_flags(i));
    const auto *mapped = static_cast<const uint8_t *>(map.constant().data);
    const auto *data = static_cast<const uint8_t *>(pass_.input(i, map.constant()).data);
    const bool on_device = device != nullptr && device->place_of(part).on_device;
    memories_.push_back({gst_buffer_get_size(part), data, on_device ? nullptr : mapped});
  }
}

void MemoryPass::read(size_t i, void *to, gsize bytes) const {
  const Memory &memory = memories_[i];
  if (memory.host != nullptr) {
    std::memcpy(to, memory.host, bytes);
    return;
  }
  const auto stride = static_cast<ptrdiff_t>(bytes);
  session_.device_session()->device().copy({static_cast<uint8_t *>(to), stride},
                                           {memory.data, stride}, bytes, 1, stream());
  session_.device_session()->device().synchronize(stream());
}

void MemoryPass::finish() {
  pass_.finish();
  session_.synchronize();
}

}  // namespace cudatensor
