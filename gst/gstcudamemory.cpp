// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gstcudamemory.h"

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
