// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/tensorpool.h"

#include "gst/meta/geometrymeta.h"

struct GstCudaTensorPool {
  GstBufferPool parent;
};
struct GstCudaTensorPoolClass {
  GstBufferPoolClass parent_class;
};
G_DEFINE_TYPE(GstCudaTensorPool, gst_cuda_tensor_pool, GST_TYPE_BUFFER_POOL)

/// Sets the POOLED flag here and not when the meta is created, because downstream elements do not
/// copy metas that have it.
static void reset_buffer(GstBufferPool *pool, GstBuffer *buffer) {
  GstMeta *meta = gst_buffer_get_meta(buffer, cudatensor::geometry_meta_api());
  if (meta != nullptr) meta->flags = static_cast<GstMetaFlags>(meta->flags | GST_META_FLAG_POOLED);
  GST_BUFFER_POOL_CLASS(gst_cuda_tensor_pool_parent_class)->reset_buffer(pool, buffer);
  if (meta != nullptr) meta->flags = static_cast<GstMetaFlags>(meta->flags & ~GST_META_FLAG_POOLED);
}

static void gst_cuda_tensor_pool_class_init(GstCudaTensorPoolClass *klass) {
  GST_BUFFER_POOL_CLASS(klass)->reset_buffer = reset_buffer;
}

static void gst_cuda_tensor_pool_init(GstCudaTensorPool *) {}

namespace cudatensor {

GstBufferPool *new_tensor_pool() {
  gpointer pool = g_object_new(gst_cuda_tensor_pool_get_type(), nullptr);
  return GST_BUFFER_POOL(gst_object_ref_sink(pool));
}

}  // namespace cudatensor
