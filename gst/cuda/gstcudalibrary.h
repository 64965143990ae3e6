// SPDX-License-Identifier: LGPL-2.1-or-later
// libgstcuda (gst-plugins-bad), found when the first element starts: one build of this plugin works
// with every release from 1.22 on, and where the library is missing.
//
// The declarations are those of the library's headers, as far as they are used here;
// tests/elements/gstcudaabi.cpp holds them against the headers themselves.
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
/// Not a constant expression: it lies outside the enumeration.
inline const auto kMapCuda = static_cast<GstMapFlags>(GST_MAP_FLAG_LAST << 1);

/// Functions named as in C, without their prefix gst_cuda_.
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

  // Until 1.22, null later.
  GstMemory *(*allocator_alloc)(GstAllocator *allocator, Context *context,
                                const GstVideoInfo *info);
  // Since 1.24, null before.
  GstMemory *(*allocator_alloc_wrapped)(GstAllocator *allocator, Context *context, Stream *stream,
                                        const GstVideoInfo *info, unsigned long long device_pointer,
                                        gpointer user_data, GDestroyNotify notify);
  Stream *(*stream_new)(Context *context);
  void *(*stream_get_handle)(Stream *stream);
  Stream *(*memory_get_stream)(Memory *memory);
  void (*buffer_pool_config_set_cuda_stream)(GstStructure *config, Stream *stream);

  /// Whether memories know the stream that they are worked on.
  bool has_streams() const { return stream_new != nullptr; }
};

/// The library, ready for use. Null where it is not installed, lacks a function, or finds no driver.
const Library *library();

/// For code that holds something of the library's, which is therefore there.
inline const Library &loaded() { return *library(); }

/// A property of the context.
int device_id_of(Context *context);

}  // namespace cudatensor::gstcuda

namespace cudatensor {

/// The buffer's memory where that is one GstCudaMemory, otherwise null.
gstcuda::Memory *cuda_memory_of(GstBuffer *buffer);

/// The stream that a memory is worked on; null where it has none, as before GStreamer 1.24.
gstcuda::Stream *stream_of(gstcuda::Memory *memory);

}  // namespace cudatensor
