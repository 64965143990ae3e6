// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/networkrunner.h"

#include <cstring>

#include "gst/caps/flexibletensor.h"

namespace cudatensor {
namespace {

/// The memories of a buffer, mapped for writing.
class MappedOutputs {
 public:
  MappedOutputs(GstBuffer *buffer, GstMapFlags flags) {
    for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
      GstMapInfo map;
      if (!gst_memory_map(gst_buffer_peek_memory(buffer, i), &map, flags)) {
        unmap();
        throw Error(Error::Code::device, "an output buffer cannot be mapped");
      }
      maps_.push_back(map);
    }
  }
  ~MappedOutputs() { unmap(); }
  MappedOutputs(const MappedOutputs &) = delete;
  MappedOutputs &operator=(const MappedOutputs &) = delete;

  void *operator[](size_t i) const { return maps_[i].data; }

 private:
  void unmap() {
    for (GstMapInfo &map : maps_) gst_memory_unmap(map.memory, &map);
  }

  std::vector<GstMapInfo> maps_;
};

/// An input buffer, mapped for reading.
class MappedInput {
 public:
  explicit MappedInput(GstBuffer *buffer) : buffer_(buffer) {
    if (!gst_buffer_map(buffer, &map_, GST_MAP_READ))
      throw Error(Error::Code::frame, "a buffer cannot be mapped");
  }
  ~MappedInput() { gst_buffer_unmap(buffer_, &map_); }
  MappedInput(const MappedInput &) = delete;
  MappedInput &operator=(const MappedInput &) = delete;

  void *data() const { return map_.data; }

 private:
  GstBuffer *buffer_;
  GstMapInfo map_;
};

void check_size(const TensorShape &shape, GstBuffer *buffer) {
  const gsize size = gst_buffer_get_size(buffer);
  if (size == shape.bytes()) return;
  throw Error(Error::Code::frame,
              "a buffer of " + std::to_string(size) + " bytes is no tensor of " + text_of(shape));
}

/// Returns a memory with the header of a flexible tensor and a copy of its elements.
GstMemory *new_flexible_memory(const ort::Binding::Result &result) {
  const gsize size = result.shape.bytes(), whole = kFlexibleHeader + size;
  Ref<gchar> block(static_cast<gchar *>(g_try_malloc(whole)));
  if (block == nullptr)
    throw Error(Error::Code::out_of_memory,
                "cannot allocate an output of " + std::to_string(whole) + " bytes");
  write_flexible_header(result.shape, block.get());
  if (size > 0) std::memcpy(block.get() + kFlexibleHeader, result.data, size);
  gchar *owned = block.release();
  return gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), owned, whole, 0, whole, owned,
                                g_free);
}

}  // namespace

void NetworkRunner::begin(const NetworkShapes &shapes, bool outputs_on_host) {
  end();
  shapes_ = shapes;
  outputs_on_host_ = outputs_on_host || session_ == nullptr || !shapes.is_known();
  binding_ = std::make_unique<ort::Binding>(network_, outputs_on_host_);
  if (!shapes_.is_filled_up()) return;
  if (session_ != nullptr)
    device_input_ = device_zeros(shapes_.run_input.bytes());
  else
    host_input_.assign(shapes_.run_input.bytes(), 0);
}

/// Waits for the work of a GPU.
void NetworkRunner::synchronize() const {
  if (session_ != nullptr) session_->synchronize();
}

void NetworkRunner::end() {
  if (binding_ != nullptr) synchronize();
  binding_.reset();
  device_input_.reset();
  host_input_.clear();
}

void NetworkRunner::copy_to_device(void *to, const void *from, gsize size) const {
  const auto row = static_cast<ptrdiff_t>(size);
  session_->session().device().copy({static_cast<uint8_t *>(to), row},
                                    {static_cast<const uint8_t *>(from), row}, size, 1,
                                    session_->stream());
}

std::unique_ptr<Memory> NetworkRunner::device_zeros(gsize size) const {
  auto memory = session_->session().device().allocate(size);
  const std::vector<uint8_t> zeros(size);
  copy_to_device(memory->data(), zeros.data(), size);
  return memory;
}

std::vector<TensorShape> NetworkRunner::run_on_zeros(const TensorShape &input) {
  ort::Binding binding(network_, true);
  std::vector<uint8_t> host(session_ == nullptr ? input.bytes() : 0);
  std::unique_ptr<Memory> device;
  if (session_ != nullptr) device = device_zeros(input.bytes());
  binding.bind_input(input, device != nullptr ? device->data() : host.data());
  for (size_t i = 0; i < network_.outputs().size(); ++i) binding.bind_open_output(i);
  binding.run();
  synchronize();
  std::vector<TensorShape> shapes;
  for (const auto &result : binding.results()) shapes.push_back(result.shape);
  return shapes;
}

void NetworkRunner::run(GstBuffer *in, GstBuffer *out) {
  check_size(shapes_.input, in);
  if (session_ != nullptr)
    run_on_gpu(in, out);
  else
    run_on_host(in, out);
}

/// Returns the input with zeros in the missing slots.
void *NetworkRunner::filled_up(const void *data) {
  if (!shapes_.is_filled_up()) return const_cast<void *>(data);
  const gsize size = shapes_.input.bytes();
  if (session_ != nullptr) {
    copy_to_device(device_input_->data(), data, size);
    return device_input_->data();
  }
  std::memcpy(host_input_.data(), data, size);
  return host_input_.data();
}

void NetworkRunner::run_on_host(GstBuffer *in, GstBuffer *out) {
  const MappedInput input(in);
  binding_->bind_input(shapes_.run_input, filled_up(input.data()));
  run_bound(out);
}

void NetworkRunner::run_on_gpu(GstBuffer *in, GstBuffer *out) {
  DeviceInput input(*session_, shapes_.input, in);
  binding_->bind_input(shapes_.run_input, filled_up(input.data()));
  run_bound(out);
  input.finish();
}

/// Whether the memory of the outputs knows the stream that completes it.
bool NetworkRunner::has_stream_of_outputs(GstBuffer *out) const {
  if (outputs_on_host_) return false;
  const Ref<GstBuffer> first(gst_buffer_new());
  gst_buffer_append_memory(first.get(), gst_buffer_get_memory(out, 0));
  return session_->session().place_of(first.get()).stream != nullptr;
}

void NetworkRunner::run_bound(GstBuffer *out) {
  if (!shapes_.is_known()) {
    for (size_t i = 0; i < network_.outputs().size(); ++i) binding_->bind_open_output(i);
    binding_->run();
    synchronize();
    append_results(out);
    return binding_->clear();
  }
  const GstMapFlags flags =
      outputs_on_host_ ? GST_MAP_WRITE : session_->session().device_map_flags(GST_MAP_WRITE);
  const MappedOutputs outputs(out, flags);
  for (size_t i = 0; i < shapes_.run_outputs.size(); ++i)
    binding_->bind_output(i, shapes_.run_outputs[i], outputs[i]);
  binding_->run();
  if (!has_stream_of_outputs(out)) synchronize();
  binding_->clear();
}

void NetworkRunner::append_results(GstBuffer *out) {
  for (const auto &result : binding_->results())
    gst_buffer_append_memory(out, new_flexible_memory(result));
}

}  // namespace cudatensor
