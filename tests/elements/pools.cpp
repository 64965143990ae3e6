// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pools.h"

#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

// ------------------------------------------------------------------- pools that want other sizes

namespace {

struct RoundingPool {
  GstBufferPool parent;
};
struct RoundingPoolClass {
  GstBufferPoolClass parent_class;
};
G_DEFINE_TYPE(RoundingPool, rounding_pool, GST_TYPE_BUFFER_POOL)

/// Rounds up to whole pages. Returns FALSE for a changed size, as the API requires.
gboolean set_config(GstBufferPool *pool, GstStructure *config) {
  GstCaps *caps = nullptr;
  guint size = 0, min = 0, max = 0;
  gst_buffer_pool_config_get_params(config, &caps, &size, &min, &max);
  const guint rounded = (size + 4095) / 4096 * 4096;
  gst_buffer_pool_config_set_params(config, caps, rounded, min, max);
  return GST_BUFFER_POOL_CLASS(rounding_pool_parent_class)->set_config(pool, config) &&
         rounded == size;
}

void rounding_pool_class_init(RoundingPoolClass *klass) {
  klass->parent_class.set_config = set_config;
}
void rounding_pool_init(RoundingPool *) {}

struct SilentPool {
  RoundingPool parent;
};
struct SilentPoolClass {
  RoundingPoolClass parent_class;
};
G_DEFINE_TYPE(SilentPool, silent_pool, rounding_pool_get_type())

/// Changes the size and returns TRUE, as GstVideoBufferPool does when it aligns its buffers.
gboolean set_config_silently(GstBufferPool *pool, GstStructure *config) {
  set_config(pool, config);
  return TRUE;
}

void silent_pool_class_init(SilentPoolClass *klass) {
  klass->parent_class.parent_class.set_config = set_config_silently;
}
void silent_pool_init(SilentPool *) {}

struct PagePool {
  GstBufferPool parent;
};
struct PagePoolClass {
  GstBufferPoolClass parent_class;
};
G_DEFINE_TYPE(PagePool, page_pool, GST_TYPE_BUFFER_POOL)

/// Allocates one fixed size, as a driver's pool does.
GstFlowReturn alloc_page(GstBufferPool *, GstBuffer **buffer, GstBufferPoolAcquireParams *) {
  *buffer = gst_buffer_new_allocate(nullptr, 4096, nullptr);
  return GST_FLOW_OK;
}

void page_pool_class_init(PagePoolClass *klass) { klass->parent_class.alloc_buffer = alloc_page; }
void page_pool_init(PagePool *) {}

}  // namespace

namespace cudatensor {
namespace {

/// A pool that pads its buffers, whatever its user configures.
struct PaddingPool {
  GstVideoBufferPool parent;
};
struct PaddingPoolClass {
  GstVideoBufferPoolClass parent_class;
};
G_DEFINE_TYPE(PaddingPool, padding_pool, GST_TYPE_VIDEO_BUFFER_POOL)

gboolean set_padded_config(GstBufferPool *pool, GstStructure *config) {
  GstVideoAlignment align;
  gst_video_alignment_reset(&align);
  align.padding_left = 16;
  align.padding_top = 2;
  align.padding_right = 8;
  align.padding_bottom = 1;
  for (guint &stride : align.stride_align) stride = 63;
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  gst_buffer_pool_config_set_video_alignment(config, &align);
  return GST_BUFFER_POOL_CLASS(padding_pool_parent_class)->set_config(pool, config);
}

void padding_pool_class_init(PaddingPoolClass *klass) {
  GST_BUFFER_POOL_CLASS(klass)->set_config = set_padded_config;
}
void padding_pool_init(PaddingPool *) {}

GstBufferPool *new_pool(PoolOffer::Kind kind) {
  GType type = GST_TYPE_BUFFER_POOL;
  if (kind == PoolOffer::Kind::rounding) type = rounding_pool_get_type();
  if (kind == PoolOffer::Kind::silent) type = silent_pool_get_type();
  if (kind == PoolOffer::Kind::pages) type = page_pool_get_type();
  if (kind == PoolOffer::Kind::padded_video) type = padding_pool_get_type();
  if (kind == PoolOffer::Kind::video) type = GST_TYPE_VIDEO_BUFFER_POOL;
  return GST_BUFFER_POOL(gst_object_ref_sink(g_object_new(type, nullptr)));
}

}  // namespace

PoolOffer::PoolOffer(Rig &rig, Kind kind, guint size)
    : pad_(gst_element_get_static_pad(rig.element(), "src")), kind_(kind), size_(size) {
  probe_ =
      gst_pad_add_probe(pad_.get(), GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer, this, nullptr);
}

PoolOffer::~PoolOffer() { gst_pad_remove_probe(pad_.get(), probe_); }

GstPadProbeReturn PoolOffer::answer(GstPad *, GstPadProbeInfo *info, gpointer self) {
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  const bool pushed = (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_PUSH) != 0;
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION || !pushed) return GST_PAD_PROBE_OK;
  static_cast<PoolOffer *>(self)->fill(query);
  return GST_PAD_PROBE_HANDLED;
}

void PoolOffer::fill(GstQuery *query) {
  ++asked_;
  if (kind_ == Kind::none) return;
  if (kind_ == Kind::padded_video || kind_ == Kind::video || kind_ == Kind::meta)
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (kind_ == Kind::meta) return;
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  guint size = size_;
  if (gst_video_info_from_caps(&info, caps)) size = static_cast<guint>(info.size);
  if (kind_ == Kind::larger) size += 512;
  if (kind_ == Kind::smaller) size = 1;
  if (kind_ == Kind::pages) size = 4096;
  pool_.reset(new_pool(kind_));
  gst_query_add_allocation_pool(query, pool_.get(), size, 0, kind_ == Kind::two ? 2 : 0);
  if (kind_ != Kind::several) return;
  const Ref<GstBufferPool> second(new_pool(kind_));
  gst_query_add_allocation_pool(query, second.get(), size, 0, 0);
}

Ref<GstBufferPool> offered_pool(Rig &rig) {
  const CapsRef caps(gst_pad_get_current_caps(rig.harness()->srcpad));
  const QueryRef query(gst_query_new_allocation(caps.get(), TRUE));
  if (!gst_pad_peer_query(rig.harness()->srcpad, query.get())) return nullptr;
  if (gst_query_get_n_allocation_pools(query.get()) == 0) return nullptr;
  GstBufferPool *pool = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, nullptr, nullptr, nullptr);
  EXPECT_TRUE(pool == nullptr || gst_buffer_pool_set_active(pool, TRUE));
  return Ref<GstBufferPool>(pool);
}

BufferRef acquire(const Ref<GstBufferPool> &pool) {
  GstBuffer *buffer = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
  return BufferRef(buffer);
}

}  // namespace cudatensor
