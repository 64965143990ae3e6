// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/tensor.h"

#include <algorithm>

#include "gst/caps/tensorcaps.h"
#include "gst/library/libraryerror.h"
#include "kernels/fault.h"

namespace cudatensor {
namespace {

std::string bytes_text(gsize size) { return std::to_string(size) + " bytes"; }

[[noreturn]] void refuse(GstCaps *caps, const std::string &cause) {
  gchar *text = gst_caps_to_string(caps);
  const std::string message = "caps " + std::string(text) + ": " + cause;
  g_free(text);
  throw LibraryError(GST_CUDA_TENSOR_ERROR_CAPS, message);
}

/// Returns the structure of fixed caps, which have exactly one.
const GstStructure *structure_of(GstCaps *caps) {
  if (caps == nullptr) throw LibraryError(GST_CUDA_TENSOR_ERROR_CAPS, "there are no caps");
  if (!gst_caps_is_fixed(caps)) refuse(caps, "not fixed");
  return gst_caps_get_structure(caps, 0);
}

std::string string_of(const GstStructure *s, const char *field) {
  const gchar *text = gst_structure_get_string(s, field);
  return text != nullptr ? text : "";
}

void check_kind(GstCaps *caps) {
  const GstStructure *s = structure_of(caps);
  if (!gst_structure_has_name(s, kTensorMedia)) refuse(caps, "not other/tensors");
  if (gst_structure_has_field(s, "format") && string_of(s, "format") != "static")
    refuse(caps, "only format=static is supported");
  gint count = 1;
  gst_structure_get_int(s, "num_tensors", &count);
  if (count != 1) refuse(caps, "only buffers with one tensor are supported");
}

const DataType *type_of(GstCaps *caps) {
  const DataType *type = find_data_type(string_of(structure_of(caps), "types").c_str());
  if (type == nullptr) refuse(caps, "the type in the field types is missing or unknown");
  return type;
}

std::vector<gint64> shape_of(GstCaps *caps) {
  const auto innermost_first =
      split_dimensions(string_of(structure_of(caps), "dimensions").c_str());
  if (innermost_first.empty()) refuse(caps, "the dimensions are missing or invalid");
  return {innermost_first.rbegin(), innermost_first.rend()};
}

std::vector<gint64> dense_strides(const std::vector<gint64> &shape) {
  std::vector<gint64> strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

gsize bytes_of(GstCaps *caps, const DataType *type, const std::vector<gint64> &shape) {
  gint64 bytes = type->bits / 8;
  for (const gint64 length : shape)
    if (__builtin_mul_overflow(bytes, length, &bytes)) refuse(caps, "the tensor's size overflows");
  return static_cast<gsize>(bytes);
}

DenseLayout layout_of(GstCaps *caps) {
  check_kind(caps);
  DenseLayout layout = {type_of(caps), 0, shape_of(caps), {}, 0};
  layout.n_dims = static_cast<guint>(layout.shape.size());
  layout.size = bytes_of(caps, layout.type, layout.shape);
  layout.strides = dense_strides(layout.shape);
  for (std::vector<gint64> *array : {&layout.shape, &layout.strides}) array->push_back(0);
  return layout;
}

GstMemory *one_memory_of(GstBuffer *buffer) {
  if (gst_buffer_n_memory(buffer) == 1) return gst_buffer_peek_memory(buffer, 0);
  throw LibraryError(GST_CUDA_TENSOR_ERROR_BUFFER, "the buffer has " +
                                                       std::to_string(gst_buffer_n_memory(buffer)) +
                                                       " memories, but a tensor must be in one");
}

}  // namespace

MappedBuffer::MappedBuffer(GstBuffer *buffer) : buffer_(buffer) {
  GstMemory *memory = one_memory_of(buffer);
  int flags = GST_MAP_READ;
  if (gst_memory_is_type(memory, gstcuda::kMemoryType)) {
    require_library();
    arm_faults();
    cuda_ = location_of(cuda_memory_of(buffer));
    flags |= gstcuda::kMapCuda;
  }
  if (GST_MEMORY_FLAG_IS_SET(memory, GST_MEMORY_FLAG_NOT_MAPPABLE) ||
      !gst_memory_map(memory, &map_, static_cast<GstMapFlags>(flags)))
    throw LibraryError(GST_CUDA_TENSOR_ERROR_BUFFER, "the buffer's memory (" +
                                                         std::string(memory->allocator->mem_type) +
                                                         ") cannot be mapped for reading");
  gst_buffer_ref(buffer);
}

MappedBuffer::~MappedBuffer() {
  gst_memory_unmap(map_.memory, &map_);
  gst_buffer_unref(buffer_);
}

bool MappedBuffer::is_exclusive() const {
  // GStreamer guarantees that memory which shares a parent is not writable.
  const GstMemory *memory = map_.memory;
  return gst_buffer_is_writable(buffer_) && gst_memory_is_writable(map_.memory) &&
         !GST_MEMORY_IS_READONLY(memory) && GST_MINI_OBJECT_REFCOUNT_VALUE(memory) == 1;
}

}  // namespace cudatensor

using namespace cudatensor;

namespace {

/// Returns the slot of a tensor of one frame, which needs no batch meta.
GstCudaTensorSlot only_slot(GstBuffer *buffer,
                            const std::optional<GstCudaTensorGeometry> &geometry) {
  GstCudaTensorSlot slot = {};
  slot.valid = TRUE;
  slot.pts = slot.running_time = GST_BUFFER_PTS(buffer);
  slot.duration = GST_BUFFER_DURATION(buffer);
  slot.has_geometry = geometry.has_value();
  if (geometry) slot.geometry = *geometry;
  return slot;
}

/// Removes the slots without a frame. Slots of regions stay, because each frame has the same number
/// of them.
void leave_out_empty(std::vector<GstCudaTensorSlot> &slots) {
  for (const GstCudaTensorSlot &slot : slots)
    if (slot.has_region) return;
  while (slots.size() > 1 && !slots.back().valid) slots.pop_back();
}

BatchContents contents_of(GstBuffer *buffer, TensorSlots slots,
                          const std::optional<GstCudaTensorGeometry> &geometry) {
  BatchContents batch = read_batch_meta(buffer);
  if (slots == TensorSlots::as_described) return batch;
  if (batch.slots.empty()) batch.slots.push_back(only_slot(buffer, geometry));
  if (slots == TensorSlots::of_frames) leave_out_empty(batch.slots);
  return batch;
}

/// Returns the layout of the first `count` slots of the tensor that the caps describe.
DenseLayout layout_for(GstCaps *caps, TensorSlots slots, size_t count) {
  DenseLayout layout = layout_of(caps);
  const auto n = static_cast<gint64>(count);
  if (slots != TensorSlots::of_frames || layout.shape[0] <= n) return layout;
  layout.size = layout.size / static_cast<gsize>(layout.shape[0]) * count;
  layout.shape[0] = n;
  return layout;
}

}  // namespace

_GstCudaTensor::_GstCudaTensor(GstBuffer *from, GstCaps *caps, TensorSlots slots)
    : geometry(read_geometry_meta(from)),
      batch(contents_of(from, slots, geometry)),
      layout(layout_for(caps, slots, batch.slots.size())),
      buffer(from) {
  const gsize size = layout_of(caps).size;
  if (buffer.size() != size)
    throw LibraryError(GST_CUDA_TENSOR_ERROR_BUFFER, "the buffer has " + bytes_text(buffer.size()) +
                                                         ", but the caps describe a tensor of " +
                                                         bytes_text(size));
}

G_DEFINE_BOXED_TYPE(GstCudaTensor, gst_cuda_tensor, gst_cuda_tensor_ref, gst_cuda_tensor_unref)

GstCudaTensor *gst_cuda_tensor_new(GstBuffer *buffer, GstCaps *caps, GError **error) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return caught(error, [&] { return new GstCudaTensor(buffer, caps); });
}

GstCudaTensor *gst_cuda_tensor_new_from_sample(GstSample *sample, GError **error) {
  g_return_val_if_fail(GST_IS_SAMPLE(sample), nullptr);
  return caught(error, [&] {
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    if (buffer == nullptr)
      throw LibraryError(GST_CUDA_TENSOR_ERROR_BUFFER, "the sample has no buffer");
    return new GstCudaTensor(buffer, gst_sample_get_caps(sample));
  });
}

GstCudaTensor *gst_cuda_tensor_ref(GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  ++tensor->references;
  return tensor;
}

void gst_cuda_tensor_unref(GstCudaTensor *tensor) {
  g_return_if_fail(tensor != nullptr);
  if (--tensor->references == 0) delete tensor;
}

void gst_cuda_tensor_get_info(const GstCudaTensor *tensor, GstCudaTensorInfo *info) {
  g_return_if_fail(tensor != nullptr);
  g_return_if_fail(info != nullptr);
  *info = {};
  info->data_type = tensor->layout.type->type;
  info->n_dims = tensor->layout.n_dims;
  info->shape = tensor->layout.shape.data();
  info->strides = tensor->layout.strides.data();
  info->size = tensor->layout.size;
  info->device_type = gst_cuda_tensor_get_device_type(tensor);
  info->device_id = gst_cuda_tensor_get_device_id(tensor);
  info->n_slots = gst_cuda_tensor_get_n_slots(tensor);
  info->left_out = tensor->batch.left_out;
  info->has_geometry = gst_cuda_tensor_get_geometry(tensor, &info->geometry);
}

GstCudaTensorDataType gst_cuda_tensor_get_data_type(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, GST_CUDA_TENSOR_DATA_TYPE_FLOAT32);
  return tensor->layout.type->type;
}

guint gst_cuda_tensor_get_n_dims(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, 0);
  return tensor->layout.n_dims;
}

const gint64 *gst_cuda_tensor_get_shape(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return tensor->layout.shape.data();
}

const gint64 *gst_cuda_tensor_get_strides(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return tensor->layout.strides.data();
}

gsize gst_cuda_tensor_get_size(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, 0);
  return tensor->layout.size;
}

gpointer gst_cuda_tensor_get_data(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return tensor->buffer.data();
}

GstCudaTensorDeviceType gst_cuda_tensor_get_device_type(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, GST_CUDA_TENSOR_DEVICE_TYPE_CPU);
  return tensor->buffer.cuda() ? GST_CUDA_TENSOR_DEVICE_TYPE_CUDA : GST_CUDA_TENSOR_DEVICE_TYPE_CPU;
}

gint gst_cuda_tensor_get_device_id(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, 0);
  return tensor->buffer.cuda() ? tensor->buffer.cuda()->device : 0;
}

gpointer gst_cuda_tensor_get_context(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return tensor->buffer.cuda() ? tensor->buffer.cuda()->context : nullptr;
}

gpointer gst_cuda_tensor_get_stream(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return tensor->buffer.cuda() ? tensor->buffer.cuda()->stream.handle : nullptr;
}

gboolean gst_cuda_tensor_is_read_only(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, TRUE);
  return tensor->references != 1 || !tensor->buffer.is_exclusive();
}

GstBuffer *gst_cuda_tensor_get_buffer(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return tensor->buffer.get();
}

gboolean gst_cuda_tensor_get_geometry(const GstCudaTensor *tensor,
                                      GstCudaTensorGeometry *geometry) {
  g_return_val_if_fail(tensor != nullptr, FALSE);
  g_return_val_if_fail(geometry != nullptr, FALSE);
  if (tensor->geometry) *geometry = *tensor->geometry;
  return tensor->geometry.has_value();
}

guint gst_cuda_tensor_get_n_slots(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, 0);
  return static_cast<guint>(tensor->batch.slots.size());
}

gboolean gst_cuda_tensor_get_slot(const GstCudaTensor *tensor, guint index,
                                  GstCudaTensorSlot *slot) {
  g_return_val_if_fail(tensor != nullptr, FALSE);
  g_return_val_if_fail(slot != nullptr, FALSE);
  const bool found = index < tensor->batch.slots.size();
  if (found) *slot = tensor->batch.slots[index];
  return found;
}

guint gst_cuda_tensor_get_left_out(const GstCudaTensor *tensor) {
  g_return_val_if_fail(tensor != nullptr, 0);
  return tensor->batch.left_out;
}

guint gst_cuda_tensor_get_slot_times(const GstCudaTensor *tensor, guint count, gint64 *pts,
                                     gint *pad_indices) {
  g_return_val_if_fail(tensor != nullptr, 0);
  g_return_val_if_fail(pts != nullptr && pad_indices != nullptr, 0);
  const auto &slots = tensor->batch.slots;
  count = std::min(count, static_cast<guint>(slots.size()));
  for (guint i = 0; i < count; ++i) {
    const bool has_time = slots[i].valid && GST_CLOCK_TIME_IS_VALID(slots[i].pts);
    pts[i] = has_time ? static_cast<gint64>(slots[i].pts) : -1;
    pad_indices[i] = slots[i].valid ? std::max(slots[i].pad_index, 0) : -1;
  }
  return count;
}
