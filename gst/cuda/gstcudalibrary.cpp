// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cuda/gstcudalibrary.h"

#include "config.h"
#include "gst/util/gstreamerfunctions.h"
#include "gst/util/log.h"
#include "kernels/device.h"

namespace cudatensor::gstcuda {
namespace {

constexpr const char *kName = "libgstcuda-1.0" GST_LIBRARY_SUFFIX ".so.0";

bool find_common(GModule *m, Library &l) {
  return find_of_gstreamer(m, "gst_cuda_load_library", l.load_library) &&
         find_of_gstreamer(m, "gst_cuda_memory_init_once", l.memory_init_once) &&
         find_of_gstreamer(m, "gst_cuda_context_new", l.context_new) &&
         find_of_gstreamer(m, "gst_cuda_context_new_wrapped", l.context_new_wrapped) &&
         find_of_gstreamer(m, "gst_cuda_context_get_handle", l.context_get_handle) &&
         find_of_gstreamer(m, "gst_context_new_cuda_context", l.context_new_cuda_context) &&
         find_of_gstreamer(m, "gst_cuda_ensure_element_context", l.ensure_element_context) &&
         find_of_gstreamer(m, "gst_cuda_handle_set_context", l.handle_set_context) &&
         find_of_gstreamer(m, "gst_cuda_handle_context_query", l.handle_context_query) &&
         find_of_gstreamer(m, "gst_is_cuda_memory", l.is_cuda_memory) &&
         find_of_gstreamer(m, "gst_cuda_buffer_pool_get_type", l.buffer_pool_get_type) &&
         find_of_gstreamer(m, "gst_cuda_buffer_pool_new", l.buffer_pool_new);
}

/// Looks up the functions that depend on the release. Since 1.24, which introduced GstCudaStream,
/// gst_cuda_allocator_alloc() has one more parameter.
bool find_by_release(GModule *m, Library &l) {
  if (!find_of_gstreamer(m, "gst_cuda_stream_new", l.stream_new))
    return find_of_gstreamer(m, "gst_cuda_allocator_alloc", l.allocator_alloc);
  return find_of_gstreamer(m, "gst_cuda_allocator_alloc_wrapped", l.allocator_alloc_wrapped) &&
         find_of_gstreamer(m, "gst_cuda_stream_get_handle", l.stream_get_handle) &&
         find_of_gstreamer(m, "gst_cuda_memory_get_stream", l.memory_get_stream) &&
         find_of_gstreamer(m, "gst_buffer_pool_config_set_cuda_stream",
                           l.buffer_pool_config_set_cuda_stream);
}

const Library *open_library() {
  GModule *module = g_module_open(kName, G_MODULE_BIND_LAZY);
  if (module == nullptr) {
    GST_INFO("CUDAMemory is not available: %s", g_module_error());
    return nullptr;
  }
  // The module registers GTypes and must stay loaded.
  g_module_make_resident(module);
  static Library library = {};
  if (!find_common(module, library) || !find_by_release(module, library)) {
    GST_WARNING("CUDAMemory is not available: %s", g_module_error());
    return nullptr;
  }
  if (!library.load_library()) {
    GST_INFO("CUDAMemory is not available: libgstcuda found no NVIDIA driver");
    return nullptr;
  }
  library.memory_init_once();
  return &library;
}

}  // namespace

const Library *library() {
  static const Library *const library = cuda_is_built() ? open_library() : nullptr;
  return library;
}

int device_id_of(Context *context) {
  guint id = 0;
  g_object_get(context, "cuda-device-id", &id, nullptr);
  return static_cast<int>(id);
}

}  // namespace cudatensor::gstcuda

namespace cudatensor {

gstcuda::Memory *cuda_memory_of(GstBuffer *buffer) {
  const gstcuda::Library *library = gstcuda::library();
  if (library == nullptr || gst_buffer_n_memory(buffer) != 1) return nullptr;
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  return library->is_cuda_memory(memory) ? reinterpret_cast<gstcuda::Memory *>(memory) : nullptr;
}

gstcuda::Stream *stream_of(gstcuda::Memory *memory) {
  return gstcuda::loaded().has_streams() ? gstcuda::loaded().memory_get_stream(memory) : nullptr;
}

}  // namespace cudatensor
