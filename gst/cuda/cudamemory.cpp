// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cuda/cudamemory.h"

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "gst/cuda/tryallocator.h"
#include "gst/util/log.h"
#include "kernels/error.h"
#include "kernels/fault.h"

namespace cudatensor {
/// Allocates a memory. Throws Error.
using Allocate = std::function<GstMemory *(gsize size, const GstAllocationParams &params)>;
}  // namespace cudatensor

struct GstCudaTensorAllocator {
  GstAllocator parent;
  struct GstCudaTensorAllocatorPrivate *priv;
};
struct GstCudaTensorAllocatorClass {
  GstAllocatorClass parent_class;
};
struct GstCudaTensorAllocatorPrivate {
  cudatensor::Allocate allocate;
  std::mutex mutex;
  std::optional<cudatensor::Error> failure;
};
G_DEFINE_TYPE(GstCudaTensorAllocator, gst_cuda_tensor_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *allocator_alloc(GstAllocator *allocator, gsize size,
                                  GstAllocationParams *params) {
  GstCudaTensorAllocatorPrivate *priv = reinterpret_cast<GstCudaTensorAllocator *>(allocator)->priv;
  try {
    return priv->allocate(size, *params);
  } catch (const cudatensor::Error &error) {
    const std::lock_guard<std::mutex> lock(priv->mutex);
    priv->failure = error;
    return nullptr;
  }
}

static void allocator_finalize(GObject *object) {
  delete reinterpret_cast<GstCudaTensorAllocator *>(object)->priv;
  G_OBJECT_CLASS(gst_cuda_tensor_allocator_parent_class)->finalize(object);
}

static void gst_cuda_tensor_allocator_class_init(GstCudaTensorAllocatorClass *klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = allocator_alloc;
  G_OBJECT_CLASS(klass)->finalize = allocator_finalize;
}

static void gst_cuda_tensor_allocator_init(GstCudaTensorAllocator *self) {
  self->priv = new GstCudaTensorAllocatorPrivate;
}

namespace cudatensor {
namespace {

/// A block of device or pinned memory, and the context in which it must be freed.
class OwnedMemory {
 public:
  OwnedMemory(const CudaContextRef &context, std::unique_ptr<Memory> memory)
      : context_(context), memory_(std::move(memory)) {}
  ~OwnedMemory() {
    try {
      const DeviceScope scope(context_);
      memory_.reset();
    } catch (const Error &) {
      const ContextLostScope gone;
      memory_.reset();
    }
  }

  uint8_t *data() const { return memory_->data(); }

 private:
  CudaContextRef context_;
  std::unique_ptr<Memory> memory_;
};

void delete_holder(gpointer holder) { delete static_cast<OwnedMemory *>(holder); }

GQuark pinned_quark() {
  static const GQuark quark = g_quark_from_static_string("GstCudaTensorPinnedMemory");
  return quark;
}

GstAllocator *make_allocator(const char *type, Allocate allocate) {
  auto *self = static_cast<GstCudaTensorAllocator *>(
      g_object_new(gst_cuda_tensor_allocator_get_type(), nullptr));
  gst_object_ref_sink(self);
  self->priv->allocate = std::move(allocate);
  GST_ALLOCATOR(self)->mem_type = type;
  return GST_ALLOCATOR(self);
}

/// Describes `size` bytes as a picture of one row with `pixel` bytes per pixel.
GstVideoInfo row_info(GstVideoFormat format, gsize size, gsize pixel) {
  if (size > G_MAXINT)
    throw Error(Error::Code::out_of_memory,
                std::to_string(size) + " bytes exceed the maximum size of a GstCudaMemory");
  GstVideoInfo info;
  gst_video_info_init(&info);
  info.finfo = gst_video_format_get_info(format);
  info.width = static_cast<gint>((size + pixel - 1) / pixel);
  info.height = 1;
  // libgstcuda copies whole strides to and from its host block of exactly `size` bytes.
  info.stride[0] = static_cast<gint>(size);
  info.size = size;
  return info;
}

GstMemory *wrap_device_memory(const CudaContextRef &context, gstcuda::Stream *stream, gsize size) {
  const GstVideoInfo info = row_info(GST_VIDEO_FORMAT_GRAY8, size, 1);
  const DeviceScope scope(context);
  auto holder = std::make_unique<OwnedMemory>(context, context->device().allocate(size));
  const auto address = reinterpret_cast<uintptr_t>(holder->data());
  GstMemory *memory = next_fault() != 0 ? nullptr
                                        : gstcuda::loaded().allocator_alloc_wrapped(
                                              nullptr, context->shared(), stream, &info, address,
                                              holder.get(), delete_holder);
  if (memory == nullptr)
    throw Error(Error::Code::out_of_memory, "gst_cuda_allocator_alloc_wrapped failed");
  holder.release();
  return memory;
}

/// Throws the cause of a failed allocation. libgstcuda does not report it; allocating the same size
/// through the CUDA runtime usually does.
[[noreturn]] void throw_row_allocation_error(const CudaContextRef &context, gsize size) {
  const DeviceScope scope(context);
  context->device().allocate(size);
  throw Error(Error::Code::out_of_memory,
              "gst_cuda_allocator_alloc of " + std::to_string(size) + " bytes failed");
}

/// Allocates a row of bytes. Up to 1.22 a GstCudaMemory is always a picture, so this allocates one
/// row of 32-bit pixels and reduces the memory's size.
GstMemory *allocate_row(const CudaContextRef &context, gsize size) {
  const GstVideoInfo info = row_info(GST_VIDEO_FORMAT_RGBA, size, 4);
  GstAllocator *allocator = gst_allocator_find(gstcuda::kMemoryType);
  GstMemory *memory = next_fault() != 0
                          ? nullptr
                          : gstcuda::loaded().allocator_alloc(allocator, context->shared(), &info);
  gst_object_unref(allocator);
  if (memory == nullptr) throw_row_allocation_error(context, size);
  gst_memory_resize(memory, 0, size);
  return memory;
}

GstMemory *allocate_pinned(const CudaContextRef &context, gsize size,
                           const GstAllocationParams &params) {
  const DeviceScope scope(context);
  const auto maxsize = block_size(size, params);
  gsize unaligned_size = 0;
  if (!maxsize || !g_size_checked_add(&unaligned_size, *maxsize, params.align))
    throw Error(Error::Code::out_of_memory, "the prefix or padding is too large");
  auto holder =
      std::make_unique<OwnedMemory>(context, context->device().allocate_pinned(unaligned_size));
  // params.align is a mask and may exceed the driver's alignment.
  const gsize unaligned = -reinterpret_cast<uintptr_t>(holder->data()) & params.align;
  uint8_t *const block = holder->data() + unaligned;
  zero_around(block, size, params);
  GstMemory *memory = gst_memory_new_wrapped(params.flags, block, *maxsize, params.prefix, size,
                                             holder.get(), delete_holder);
  gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), pinned_quark(), holder.release(), nullptr);
  return memory;
}

/// Allocates pinned memory, or pageable memory if that fails: it costs one more copy, but neighbors
/// that use this allocator cannot report the CUDA error.
GstMemory *allocate_pinned_or_plain(const CudaContextRef &context, gsize size,
                                    const GstAllocationParams &params) {
  try {
    return allocate_pinned(context, size, params);
  } catch (const Error &error) {
    GST_WARNING("cannot allocate pinned memory, using pageable memory: %s", error.what());
    GstAllocationParams copy = params;
    return gst_allocator_alloc(try_allocator(), size, &copy);
  }
}

/// Returns a shared reference for use in a closure; null if `stream` is null.
std::shared_ptr<gstcuda::Stream> keep(gstcuda::Stream *stream) {
  if (stream == nullptr) return nullptr;
  auto *object = gst_mini_object_ref(reinterpret_cast<GstMiniObject *>(stream));
  return {reinterpret_cast<gstcuda::Stream *>(object),
          [](gstcuda::Stream *s) { gst_mini_object_unref(reinterpret_cast<GstMiniObject *>(s)); }};
}

}  // namespace

bool is_pinned(GstBuffer *buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    if (gst_mini_object_get_qdata(GST_MINI_OBJECT(gst_buffer_peek_memory(buffer, i)),
                                  pinned_quark()) == nullptr)
      return false;
  return gst_buffer_n_memory(buffer) > 0;
}

GstAllocator *make_cuda_allocator(const CudaContextRef &context, gstcuda::Stream *stream) {
  const auto kept = keep(stream);
  return make_allocator(gstcuda::kMemoryType, [context, kept](gsize size, const auto &) {
    if (gstcuda::loaded().has_streams()) return wrap_device_memory(context, kept.get(), size);
    return allocate_row(context, size);
  });
}

GstAllocator *make_pinned_allocator(const CudaContextRef &context) {
  return make_allocator(GST_ALLOCATOR_SYSMEM, [context](gsize size, const auto &params) {
    return allocate_pinned_or_plain(context, size, params);
  });
}

std::optional<Error> take_allocation_failure(GstAllocator *allocator) {
  if (!G_TYPE_CHECK_INSTANCE_TYPE(allocator, gst_cuda_tensor_allocator_get_type()))
    return std::nullopt;
  GstCudaTensorAllocatorPrivate *priv = reinterpret_cast<GstCudaTensorAllocator *>(allocator)->priv;
  const std::lock_guard<std::mutex> lock(priv->mutex);
  return std::exchange(priv->failure, std::nullopt);
}

}  // namespace cudatensor
