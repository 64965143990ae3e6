// SPDX-License-Identifier: LGPL-2.1-or-later
// libgstcuda (gst-plugins-bad), loaded when the first element starts. One build of this plugin
// therefore works with every release since 1.22 and without the library.
//
// This file repeats the declarations that the plugin uses; tests/elements/gstcudaabi.cpp compares
// them with the library's headers.
#pragma once

#include <gst/video/video.h>

namespace cudatensor::gstcuda {

struct Context;  // GstCudaContext, a GstObject
struct Stream;   // GstCudaStream, a GstMiniObject

/// The public part of a GstCudaMemory.
struct Memory {
  GstMemory mem;
  Context *context;
  GstVideoInfo info;
};

/// The public part of a GstCudaBufferPool.
struct BufferPool {
  GstBufferPool parent;
  Context *context;
};

constexpr const char *kContextType = "gst.cuda.context";
constexpr const char *kMemoryType = "gst.cuda.memory";
constexpr const char *kMemoryFeature = "memory:CUDAMemory";
/// The flag GST_MAP_CUDA. It is not a constant expression, because the value lies outside the
/// enumeration.
inline const auto kMapCuda = static_cast<GstMapFlags>(GST_MAP_FLAG_LAST << 1);

/// The library's functions, named without the prefix gst_cuda_.
struct Library {
  gboolean (*load_library)();
  void (*memory_init_once)();

  Context *(*context_new)(guint device_id);
  Context *(*context_new_wrapped)(void *handle, int device);
  void *(*context_get_handle)(Context *context);
  GstContext *(*context_new_cuda_context)(Context *context);  // gst_context_new_cuda_context
  gboolean (*ensure_element_context)(GstElement *element, gint device_id, Context **context);
  gboolean (*handle_set_context)(GstElement *element, GstContext *context, gint device_id,
                                 Context **own);
  gboolean (*handle_context_query)(GstElement *element, GstQuery *query, Context *context);

  gboolean (*is_cuda_memory)(GstMemory *memory);
  GType (*buffer_pool_get_type)();
  GstBufferPool *(*buffer_pool_new)(Context *context);

  // Up to 1.22; null in later versions.
  GstMemory *(*allocator_alloc)(GstAllocator *allocator, Context *context,
                                const GstVideoInfo *info);
  // Since 1.24; null in earlier versions.
  GstMemory *(*allocator_alloc_wrapped)(GstAllocator *allocator, Context *context, Stream *stream,
                                        const GstVideoInfo *info, unsigned long long device_pointer,
                                        gpointer user_data, GDestroyNotify notify);
  Stream *(*stream_new)(Context *context);
  void *(*stream_get_handle)(Stream *stream);
  Stream *(*memory_get_stream)(Memory *memory);
  void (*buffer_pool_config_set_cuda_stream)(GstStructure *config, Stream *stream);

  /// Whether a GstCudaMemory has a GstCudaStream (since 1.24).
  bool has_streams() const { return stream_new != nullptr; }
};

/// Loads and initializes the library on first use. Returns null if it is not installed, lacks a
/// function or finds no driver.
const Library *library();

/// Returns the library for code that already holds one of its objects, so that it must be loaded.
inline const Library &loaded() { return *library(); }

/// Returns the context's property cuda-device-id.
int device_id_of(Context *context);

}  // namespace cudatensor::gstcuda

namespace cudatensor {

/// Returns the buffer's memory if it is a single GstCudaMemory, otherwise null.
gstcuda::Memory *cuda_memory_of(GstBuffer *buffer);

/// Returns the stream of a memory; null if it has none, as before GStreamer 1.24.
gstcuda::Stream *stream_of(gstcuda::Memory *memory);

}  // namespace cudatensor
