// SPDX-License-Identifier: LGPL-2.1-or-later
// The layout of NvBufSurface, a batch of surfaces, in DeepStream 9.0 (nvbufsurface.h). The tests do
// not use the members named `reserved`.
#pragma once

#include <cstdint>

namespace luminance::test {

constexpr int kPinnedMemory = 1;  // NVBUF_MEM_CUDA_PINNED: host memory that the GPU can read
constexpr int kNv12 = 6;          // NVBUF_COLOR_FORMAT_NV12
constexpr int kPitchLayout = 0;   // NVBUF_LAYOUT_PITCH

/// NvBufSurfacePlaneParams.
struct SurfacePlanes {
  uint32_t num_planes;
  uint32_t width[4], height[4], pitch[4], offset[4], size[4], bytes_per_pixel[4];
  void *reserved[16];
};

/// NvBufSurfaceParams: one surface.
struct Surface {
  uint32_t width, height, pitch;
  int color_format, layout;
  uint64_t descriptor;
  uint32_t data_size;
  void *data;
  SurfacePlanes planes;
  void *mapped_addresses[11];
  void *extension, *cuda_buffer;
  void *reserved[4];
};

/// NvBufSurface.
struct SurfaceBatch {
  uint32_t gpu_id, batch_size, num_filled;
  bool is_contiguous;
  int memory_type;
  Surface *surfaces;
  bool is_imported;
  void *reserved[4];
};

}  // namespace luminance::test
