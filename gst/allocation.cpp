// SPDX-License-Identifier: LGPL-2.1-or-later
#include "allocation.h"

#include <algorithm>

#include "tryallocator.h"

namespace cudatensor {
namespace {

// A cache line, which is also the widest vector of the CPUs that the kernels know.
constexpr gsize kAlignMask = 63;

bool is_video(GstCaps *caps) {
  return gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw");
}

GstBufferPool *new_pool(GstCaps *caps) {
  return is_video(caps) ? gst_video_buffer_pool_new() : gst_buffer_pool_new();
}

struct Offer {
  GstBufferPool *pool;
  guint size, min, max;
};

bool configure(const Offer &offer, GstCaps *caps, GstAllocator *allocator,
               const GstAllocationParams &params, bool video_meta) {
  GstStructure *config = gst_buffer_pool_get_config(offer.pool);
  gst_buffer_pool_config_set_params(config, caps, offer.size, offer.min, offer.max);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  if (video_meta) gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  return gst_buffer_pool_set_config(offer.pool, config);
}

/// Downstream's first pool where it can be used, otherwise none.
Offer usable_offer(GstQuery *query, bool video, guint size) {
  Offer offer = {nullptr, size, 0, 0};
  if (gst_query_get_n_allocation_pools(query) == 0) return offer;
  gst_query_parse_nth_allocation_pool(query, 0, &offer.pool, &offer.size, &offer.min, &offer.max);
  const bool usable = video || offer.size == size;
  if (!usable) gst_clear_object(&offer.pool);
  offer.size = video ? std::max(offer.size, size) : size;
  return offer;
}

void set_first_pool(GstQuery *query, const Offer &offer) {
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_set_nth_allocation_pool(query, 0, offer.pool, offer.size, offer.min, offer.max);
  else
    gst_query_add_allocation_pool(query, offer.pool, offer.size, offer.min, offer.max);
}

void remove_pools(GstQuery *query) {
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
}

/// Downstream's allocator, and alignment that is at least ours.
GstAllocator *decide_allocator(GstQuery *query, GstAllocationParams &params) {
  GstAllocator *allocator = nullptr;
  gst_allocation_params_init(&params);
  const bool offered = gst_query_get_n_allocation_params(query) > 0;
  if (offered) gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  params.align |= kAlignMask;
  if (allocator == nullptr) allocator = GST_ALLOCATOR(gst_object_ref(try_allocator()));
  if (offered)
    gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  else
    gst_query_add_allocation_param(query, allocator, &params);
  return allocator;
}

}  // namespace

void propose_pool(GstQuery *query, gsize size) {
  GstCaps *caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  if (caps == nullptr) return;
  GstVideoInfo info;
  if (is_video(caps)) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (is_video(caps) && gst_video_info_from_caps(&info, caps)) size = info.size;
  if (!need_pool || size > G_MAXUINT) return;
  const Offer offer = {new_pool(caps), static_cast<guint>(size), 0, 0};
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = kAlignMask;
  if (configure(offer, caps, nullptr, params, is_video(caps)))
    gst_query_add_allocation_pool(query, offer.pool, offer.size, offer.min, offer.max);
  gst_object_unref(offer.pool);
}

bool decide_pool(GstQuery *query, gsize size) {
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  const bool video = is_video(caps);
  const bool video_meta =
      video && gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  GstAllocationParams params;
  GstAllocator *allocator = decide_allocator(query, params);
  if (size > G_MAXUINT) {
    // More than a pool can count: each buffer is allocated on its own.
    remove_pools(query);
    gst_clear_object(&allocator);
    return true;
  }
  Offer offer = usable_offer(query, video, static_cast<guint>(size));
  bool configured = offer.pool != nullptr && configure(offer, caps, allocator, params, video_meta);
  if (!configured) {
    gst_clear_object(&offer.pool);
    offer = {new_pool(caps), static_cast<guint>(size), offer.min, 0};
    configured = configure(offer, caps, allocator, params, video_meta);
  }
  if (configured) set_first_pool(query, offer);
  gst_object_unref(offer.pool);
  gst_clear_object(&allocator);
  return configured;
}

}  // namespace cudatensor
