// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cuda/cudasession.h"

#include <algorithm>
#include <iterator>

#include "kernels/fault.h"

namespace cudatensor {
namespace {

/// The formats that libgstcuda's pool supports in GStreamer 1.22, where it aborts the process for
/// others.
constexpr const char *kPoolFormats[] = {
    "BGR",       "RGB",       "BGRx",      "RGBx",     "BGRA", "RGBA",      "ABGR",
    "ARGB",      "RGBP",      "BGRP",      "GBR",      "NV12", "NV21",      "I420",
    "YV12",      "Y444",      "YUY2",      "UYVY",     "Y42B", "P010_10LE", "P016_LE",
    "I420_10LE", "I422_10LE", "I422_12LE", "Y444_16LE"};

/// The pool allocates too little for NV21 pictures of odd height, and up to 1.22 the host can map at
/// most two planes.
bool has_pool(const GstCaps *caps) {
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const char *format = gst_structure_get_string(s, "format");
  int height = 0;
  gst_structure_get_int(s, "height", &height);
  const auto is = [&](const char *name) { return g_strcmp0(format, name) == 0; };
  if (std::none_of(std::begin(kPoolFormats), std::end(kPoolFormats), is)) return false;
  for (const char *other : {"NV21", "I420", "YV12", "I420_10LE"})
    if (is(other) && height % 2 != 0) return false;
  return gst_structure_has_name(s, "video/x-raw");
}

gstcuda::Stream *cuda_stream(SharedStream *stream) {
  return reinterpret_cast<gstcuda::Stream *>(stream);
}

SharedStream *new_stream(gstcuda::Context *context) {
  if (context == nullptr || !gstcuda::loaded().has_streams()) return nullptr;
  gstcuda::Stream *stream = next_fault() != 0 ? nullptr : gstcuda::loaded().stream_new(context);
  if (stream == nullptr) throw_libgstcuda_error("gst_cuda_stream_new", device_id_of(context));
  return reinterpret_cast<SharedStream *>(stream);
}

}  // namespace

CudaSession::CudaSession(const CudaContextRef &context)
    : DeviceSession(context, new_stream(context->shared())), cuda_context_(context) {}

std::unique_ptr<CudaSession> open_cuda_session(const CudaContextRef &context) {
  const DeviceScope scope(context);
  return std::make_unique<CudaSession>(context);
}

Stream CudaSession::shared_handle_of(SharedStream *stream) const {
  return {gstcuda::loaded().stream_get_handle(cuda_stream(stream))};
}

DeviceSession::Place CudaSession::place_of(GstBuffer *buffer) const {
  gstcuda::Memory *memory = cuda_memory_of(buffer);
  if (memory == nullptr || memory->context != cuda_context_->shared()) return {false, nullptr};
  return {true, reinterpret_cast<SharedStream *>(stream_of(memory))};
}

GstMapFlags CudaSession::device_map_flags(GstMapFlags access) const {
  return static_cast<GstMapFlags>(access | gstcuda::kMapCuda);
}

GstAllocator *CudaSession::make_device_allocator() const {
  return make_cuda_allocator(cuda_context_, cuda_stream(stream()));
}

GstAllocator *CudaSession::make_pinned_allocator() const {
  return cudatensor::make_pinned_allocator(cuda_context_);
}

GstBufferPool *CudaSession::new_device_pool(const GstCaps *caps) const {
  return has_pool(caps) ? gstcuda::loaded().buffer_pool_new(cuda_context_->shared()) : nullptr;
}

bool CudaSession::is_own_pool(GstBufferPool *pool) const {
  return G_TYPE_CHECK_INSTANCE_TYPE(pool, gstcuda::loaded().buffer_pool_get_type()) &&
         reinterpret_cast<gstcuda::BufferPool *>(pool)->context == cuda_context_->shared();
}

void CudaSession::add_stream(GstStructure *pool_config) const {
  if (stream() != nullptr)
    gstcuda::loaded().buffer_pool_config_set_cuda_stream(pool_config, cuda_stream(stream()));
}

}  // namespace cudatensor
