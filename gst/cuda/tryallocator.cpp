// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cuda/tryallocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

struct GstCudaTensorTryAllocator {
  GstAllocator parent;
};
struct GstCudaTensorTryAllocatorClass {
  GstAllocatorClass parent_class;
};
G_DEFINE_TYPE(GstCudaTensorTryAllocator, gst_cuda_tensor_try_allocator, GST_TYPE_ALLOCATOR)

/// Allocates a memory that belongs to GStreamer's system allocator, which maps, shares and frees
/// it.
static GstMemory *try_alloc(GstAllocator *, gsize size, GstAllocationParams *params) {
  const gsize align = std::max<gsize>(params->align + 1, sizeof(void *));
  const auto maxsize = cudatensor::block_size(size, *params);
  void *data = nullptr;
  if (!maxsize || posix_memalign(&data, align, std::max<gsize>(*maxsize, 1)) != 0) return nullptr;
  cudatensor::zero_around(static_cast<guint8 *>(data), size, *params);
  return gst_memory_new_wrapped(params->flags, data, *maxsize, params->prefix, size, data, free);
}

static void gst_cuda_tensor_try_allocator_class_init(GstCudaTensorTryAllocatorClass *klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = try_alloc;
}

static void gst_cuda_tensor_try_allocator_init(GstCudaTensorTryAllocator *self) {
  GST_ALLOCATOR(self)->mem_type = GST_ALLOCATOR_SYSMEM;
}

namespace cudatensor {

std::optional<gsize> block_size(gsize size, const GstAllocationParams &params) {
  gsize end = 0, all = 0;
  const bool fits = g_size_checked_add(&end, params.prefix, size) &&
                    g_size_checked_add(&all, end, params.padding);
  return fits ? std::optional<gsize>(all) : std::nullopt;
}

void zero_around(guint8 *block, gsize size, const GstAllocationParams &params) {
  if (params.flags & GST_MEMORY_FLAG_ZERO_PREFIXED) memset(block, 0, params.prefix);
  if (params.flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset(block + params.prefix + size, 0, params.padding);
}

GstAllocator *try_allocator() {
  static auto *allocator = [] {
    auto *object = g_object_new(gst_cuda_tensor_try_allocator_get_type(), nullptr);
    GST_OBJECT_FLAG_SET(object, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    return GST_ALLOCATOR(gst_object_ref_sink(object));
  }();
  return allocator;
}

}  // namespace cudatensor
