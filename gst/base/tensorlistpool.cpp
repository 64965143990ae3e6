// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/tensorlistpool.h"

#include "gst/base/tensorpool.h"
#include "gst/caps/memorycaps.h"
#include "gst/cuda/tryallocator.h"
#include "gst/device/devicesession.h"
#include "gst/util/ref.h"
#include "kernels/error.h"

struct GstCudaTensorListPool {
  GstBufferPool parent;
  std::vector<cudatensor::TensorMemory> *memories;
};
struct GstCudaTensorListPoolClass {
  GstBufferPoolClass parent_class;
};
G_DEFINE_TYPE(GstCudaTensorListPool, gst_cuda_tensor_list_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn alloc_buffer(GstBufferPool *pool, GstBuffer **buffer,
                                  GstBufferPoolAcquireParams *) {
  GstAllocator *allocator = nullptr;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_allocator(config, &allocator, &params);
  cudatensor::Ref<GstBuffer> made(gst_buffer_new());
  for (const auto &each : *reinterpret_cast<GstCudaTensorListPool *>(pool)->memories) {
    GstMemory *memory = gst_allocator_alloc(allocator, each.allocated, &params);
    if (memory == nullptr) break;
    gst_memory_resize(memory, 0, each.used);
    gst_buffer_append_memory(made.get(), memory);
  }
  gst_structure_free(config);
  const size_t count = reinterpret_cast<GstCudaTensorListPool *>(pool)->memories->size();
  if (gst_buffer_n_memory(made.get()) != count) return GST_FLOW_ERROR;
  *buffer = made.release();
  return GST_FLOW_OK;
}

static void finalize(GObject *object) {
  delete reinterpret_cast<GstCudaTensorListPool *>(object)->memories;
  G_OBJECT_CLASS(gst_cuda_tensor_list_pool_parent_class)->finalize(object);
}

static void gst_cuda_tensor_list_pool_class_init(GstCudaTensorListPoolClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = alloc_buffer;
}

static void gst_cuda_tensor_list_pool_init(GstCudaTensorListPool *self) {
  self->memories = new std::vector<cudatensor::TensorMemory>;
}

namespace cudatensor {
namespace {

GstBufferPool *new_tensor_list_pool(const std::vector<TensorMemory> &memories) {
  gpointer pool = g_object_new(gst_cuda_tensor_list_pool_get_type(), nullptr);
  *static_cast<GstCudaTensorListPool *>(pool)->memories = memories;
  return GST_BUFFER_POOL(gst_object_ref_sink(pool));
}

/// Returns the bytes of all tensors.
gsize total_used(const std::vector<TensorMemory> &memories) {
  gsize total = 0;
  for (const TensorMemory &memory : memories) total += memory.used;
  return total;
}

}  // namespace

void remove_allocation(GstQuery *query) {
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  while (gst_query_get_n_allocation_params(query) > 0)
    gst_query_remove_nth_allocation_param(query, 0);
}

void decide_tensor_list_pool(GstQuery *query, const std::vector<TensorMemory> &memories,
                             Session *session) {
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = kTensorAlignMask;
  const bool on_device = session != nullptr && in_cuda_memory(caps);
  const Ref<GstAllocator> allocator(on_device ? session->device_session()->make_device_allocator()
                                              : GST_ALLOCATOR(gst_object_ref(try_allocator())));
  const gsize total = total_used(memories);
  if (total > G_MAXUINT)
    throw Error(Error::Code::settings,
                "outputs of " + std::to_string(total) + " bytes are too large for a buffer pool");
  const auto size = static_cast<guint>(total);
  const Ref<GstBufferPool> pool(new_tensor_list_pool(memories));
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  gst_buffer_pool_config_set_allocator(config, allocator.get(), &params);
  if (!gst_buffer_pool_set_config(pool.get(), config))
    throw Error(Error::Code::settings, "the pool of the outputs cannot be configured");
  remove_allocation(query);
  gst_query_add_allocation_param(query, allocator.get(), &params);
  gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
}

}  // namespace cudatensor
