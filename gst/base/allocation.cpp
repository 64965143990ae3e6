// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/allocation.h"

#include <algorithm>

#include "gst/base/tensorpool.h"
#include "gst/caps/memorycaps.h"
#include "gst/cuda/cudamemory.h"
#include "gst/cuda/tryallocator.h"
#include "kernels/error.h"
#include "kernels/fault.h"

namespace cudatensor {
namespace {

bool is_video(const GstCaps *caps) {
  return gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw");
}

/// Returns a new reference to an allocator for buffers of these caps.
GstAllocator *make_allocator(const GstCaps *caps, Session &session) {
  const DeviceSession *device = session.device_session();
  if (device == nullptr) return GST_ALLOCATOR(gst_object_ref(try_allocator()));
  return in_cuda_memory(caps) ? device->make_device_allocator() : device->make_pinned_allocator();
}

GstBufferPool *new_pool(const GstCaps *caps, Session &session) {
  GstBufferPool *pool =
      in_cuda_memory(caps) ? session.device_session()->new_device_pool(caps) : nullptr;
  if (pool != nullptr) return pool;
  return is_video(caps) ? gst_video_buffer_pool_new() : gst_buffer_pool_new();
}

struct PoolOffer {
  GstBufferPool *pool;
  guint size, min, max;
};

struct PoolConfig {
  GstCaps *caps;
  GstAllocator *allocator;  // null: the pool's own
  GstAllocationParams params;
  bool video_meta;
  const DeviceSession *device;  // null: the pool's memory is on the host
};

/// Reads the size from the pool, which may have changed the size of its buffers.
void read_size(PoolOffer &offer) {
  GstStructure *config = gst_buffer_pool_get_config(offer.pool);
  gst_buffer_pool_config_get_params(config, nullptr, &offer.size, nullptr, nullptr);
  gst_structure_free(config);
}

bool configure(PoolOffer &offer, const PoolConfig &config) {
  GstStructure *structure = gst_buffer_pool_get_config(offer.pool);
  gst_buffer_pool_config_set_params(structure, config.caps, offer.size, offer.min, offer.max);
  gst_buffer_pool_config_set_allocator(structure, config.allocator, &config.params);
  if (config.video_meta)
    gst_buffer_pool_config_add_option(structure, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (config.device != nullptr) config.device->add_stream(structure);
  if (next_fault() != 0 || !gst_buffer_pool_set_config(offer.pool, structure)) return false;
  read_size(offer);
  return true;
}

bool is_usable(const PoolOffer &offer, const GstCaps *caps, guint size, Session &session) {
  if (in_cuda_memory(caps))
    return is_video(caps) && session.device_session()->is_own_pool(offer.pool);
  return is_video(caps) || offer.size == size;
}

/// Returns whether a pool has a buffer for the next frame while downstream and the element keep
/// theirs.
bool has_room(const PoolOffer &offer, guint held) {
  return held == 0 || offer.max == 0 || offer.max > guint64{offer.min} + held;
}

/// Returns downstream's first pool if it can be used, otherwise an offer without a pool.
PoolOffer usable_offer(GstQuery *query, const GstCaps *caps, guint size, Session &session,
                       guint held) {
  PoolOffer offer = {nullptr, size, 0, 0};
  if (gst_query_get_n_allocation_pools(query) == 0) return offer;
  gst_query_parse_nth_allocation_pool(query, 0, &offer.pool, &offer.size, &offer.min, &offer.max);
  if (offer.pool != nullptr && !(is_usable(offer, caps, size, session) && has_room(offer, held)))
    gst_clear_object(&offer.pool);
  offer.size = is_video(caps) ? std::max(offer.size, size) : size;
  return offer;
}

void set_first_pool(GstQuery *query, const PoolOffer &offer) {
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_set_nth_allocation_pool(query, 0, offer.pool, offer.size, offer.min, offer.max);
  else
    gst_query_add_allocation_pool(query, offer.pool, offer.size, offer.min, offer.max);
}

void remove_pools(GstQuery *query) {
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
}

/// Rounds `prefix` up so that the data after it has the alignment of the block. Returns `prefix`
/// unchanged if that overflows; the allocation then fails.
gsize aligned_prefix(gsize prefix, gsize align_mask) {
  gsize end = 0;
  return g_size_checked_add(&end, prefix, align_mask) ? end & ~align_mask : prefix;
}

/// Returns downstream's allocator, unless buffers must be in CUDAMemory, and raises the alignment
/// in `params` to ours.
GstAllocator *decide_allocator(GstQuery *query, const GstCaps *caps, Session &session,
                               GstAllocationParams &params) {
  GstAllocator *allocator = nullptr;
  gst_allocation_params_init(&params);
  const bool offered = gst_query_get_n_allocation_params(query) > 0;
  if (offered) gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  params.align |= kTensorAlignMask;
  params.prefix = aligned_prefix(params.prefix, params.align);
  if (in_cuda_memory(caps)) gst_clear_object(&allocator);
  if (allocator == nullptr) allocator = make_allocator(caps, session);
  if (offered)
    gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  else
    gst_query_add_allocation_param(query, allocator, &params);
  return allocator;
}

}  // namespace

void propose_pool(GstQuery *query, gsize size, Session &session) {
  GstCaps *caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  if (caps == nullptr) return;
  GstVideoInfo info;
  if (is_video(caps)) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (is_video(caps) && gst_video_info_from_caps(&info, caps)) size = info.size;
  const DeviceSession *device = session.device_session();
  const bool foreign = in_cuda_memory(caps) && (device == nullptr || !device->is_shared());
  // DeepStream's elements allocate their surfaces themselves.
  if (!need_pool || size > G_MAXUINT || foreign || in_nvmm(caps)) return;
  PoolOffer offer = {new_pool(caps, session), static_cast<guint>(size), 0, 0};
  PoolConfig config = {caps, nullptr, {}, is_video(caps), nullptr};
  gst_allocation_params_init(&config.params);
  config.params.align = kTensorAlignMask;
  if (device != nullptr) config.allocator = make_allocator(caps, session);
  if (in_cuda_memory(caps)) config.device = device;
  if (configure(offer, config))
    gst_query_add_allocation_pool(query, offer.pool, offer.size, offer.min, offer.max);
  gst_object_unref(offer.pool);
  gst_clear_object(&config.allocator);
}

void decide_pool(GstQuery *query, gsize size, Session &session, guint held) {
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  PoolConfig config = {caps, nullptr, {}, false, nullptr};
  config.video_meta =
      is_video(caps) && gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  config.allocator = decide_allocator(query, caps, session, config.params);
  const Ref<GstAllocator> owner(config.allocator);
  // The size exceeds the guint of a pool configuration: each buffer is allocated separately.
  if (size > G_MAXUINT) return remove_pools(query);
  if (in_cuda_memory(caps)) config.device = session.device_session();
  PoolOffer offer = usable_offer(query, caps, static_cast<guint>(size), session, held);
  bool configured = offer.pool != nullptr && configure(offer, config);
  // A pool may accept a configuration but enlarge its buffers, as GstVideoBufferPool does for
  // alignment.
  if (!is_video(caps) && offer.size != size) configured = false;
  if (!configured) {
    gst_clear_object(&offer.pool);
    // Preallocate nothing, so that a lack of memory is reported when a buffer is needed.
    GstBufferPool *pool = is_video(caps) ? new_pool(caps, session) : new_tensor_pool();
    offer = {pool, static_cast<guint>(size), 0, 0};
    configured = configure(offer, config);
  }
  if (configured)
    set_first_pool(query, offer);
  else
    remove_pools(query);
  gst_object_unref(offer.pool);
}

void throw_allocation_error(gsize size, Session &session, GstAllocator *allocator) {
  const auto cause = allocator != nullptr ? take_allocation_failure(allocator) : std::nullopt;
  const std::string what =
      "cannot allocate an output buffer of " + std::to_string(size) + " bytes: ";
  if (cause) throw Error(cause->code(), what + cause->what());
  // libgstcuda does not report the cause. Allocating the same size through the CUDA runtime usually
  // does.
  if (const DeviceSession *device = session.device_session()) device->device().allocate(size);
  throw Error(Error::Code::out_of_memory, what + "out of memory");
}

}  // namespace cudatensor
