// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/tensorpool.h"

#include "gst/analytics/batchstreams.h"
#include "gst/meta/geometrymeta.h"

struct GstCudaTensorPool {
  GstBufferPool parent;
};
struct GstCudaTensorPoolClass {
  GstBufferPoolClass parent_class;
};
G_DEFINE_TYPE(GstCudaTensorPool, gst_cuda_tensor_pool, GST_TYPE_BUFFER_POOL)

static void mark_as_pooled(GstMeta *meta, bool pooled) {
  if (meta == nullptr) return;
  const int others = meta->flags & ~GST_META_FLAG_POOLED;
  meta->flags = static_cast<GstMetaFlags>(pooled ? others | GST_META_FLAG_POOLED : others);
}

/// The flag is set here and not when the meta is created, because downstream elements do not copy
/// metas that have it.
static void reset_buffer(GstBufferPool *pool, GstBuffer *buffer) {
  const GType streams_api = cudatensor::batch_streams_api();
  GstMeta *kept[] = {
      gst_buffer_get_meta(buffer, cudatensor::geometry_meta_api()),
      streams_api != G_TYPE_INVALID ? gst_buffer_get_meta(buffer, streams_api) : nullptr};
  for (GstMeta *meta : kept) mark_as_pooled(meta, true);
  GST_BUFFER_POOL_CLASS(gst_cuda_tensor_pool_parent_class)->reset_buffer(pool, buffer);
  for (GstMeta *meta : kept) mark_as_pooled(meta, false);
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

bool is_from_tensor_pool(GstBuffer *buffer) {
  return buffer->pool != nullptr &&
         G_TYPE_CHECK_INSTANCE_TYPE(buffer->pool, gst_cuda_tensor_pool_get_type());
}

}  // namespace cudatensor
