// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory of DeepStream's video buffers (caps feature memory:NVMM): one GstMemory that maps to an
// NvBufSurface, a batch of surfaces.
//
// This file repeats the declarations of DeepStream 9.0 (nvbufsurface.h) that the plugin uses, so that
// a build needs no DeepStream; tests/elements/deepstreamabi.cpp compares them with its headers.
#pragma once

#include <cstdint>

namespace cudatensor::nvmm {

constexpr const char *kMemoryFeature = "memory:NVMM";

/// NvBufSurfaceMemType.
enum class MemoryType : int {
  standard,       ///< NVBUF_MEM_DEFAULT; surfaces name the type that they were given
  cuda_pinned,    ///< host memory that the GPU can read
  cuda_device,    ///< memory of the GPU
  cuda_unified,   ///< moves between GPU and host
  surface_array,  ///< Jetson's hardware buffers
  handle,         ///< Jetson's hardware buffers, by handle
  system,         ///< memory of malloc()
  cuda_array,     ///< opaque to kernels
};

/// NvBufSurfaceLayout.
enum class Layout : int { pitch, block_linear };

/// NvBufSurfaceColorFormat, as far as the plugin supports it. YUV formats whose name has no
/// standard have the matrix of BT.601; `er` is the extended, full range.
enum class ColorFormat : int {
  invalid = 0,
  gray8 = 1,
  yuv420 = 2,
  yuv420_er = 4,
  nv12 = 6,
  nv12_er = 7,
  nv21 = 8,
  nv21_er = 9,
  yuv444 = 18,
  rgba = 19,
  bgrx = 24,
  rgb = 27,
  bgr = 28,
  nv12_10le = 29,
  yuv420_709 = 31,
  yuv420_709_er = 32,
  nv12_709 = 33,
  nv12_709_er = 34,
  yuv420_2020 = 35,
  nv12_2020 = 36,
  nv12_10le_er = 37,
  nv12_10le_709 = 38,
  nv12_10le_709_er = 39,
  nv12_10le_2020 = 40,
  yuv444_er = 71,
  yuv444_709 = 72,
  yuv444_709_er = 73,
  yuv444_2020 = 74,
  gray8_er = 88,
};

constexpr int kMaxPlanes = 4;
constexpr int kReserved = 4;

/// NvBufSurfacePlaneParams.
struct PlaneParams {
  uint32_t num_planes;
  uint32_t width[kMaxPlanes];
  uint32_t height[kMaxPlanes];
  uint32_t pitch[kMaxPlanes];
  uint32_t offset[kMaxPlanes];
  uint32_t psize[kMaxPlanes];
  uint32_t bytes_per_pixel[kMaxPlanes];
  void *reserved[kReserved * kMaxPlanes];
};

/// NvBufSurfaceMappedAddr.
struct MappedAddresses {
  void *addr[kMaxPlanes];
  void *egl_image;
  void *nvmm_ptr;
  void *cuda_ptr;
  void *reserved[kReserved];
};

/// NvBufSurfaceParams: one surface.
struct SurfaceParams {
  uint32_t width;
  uint32_t height;
  uint32_t pitch;
  ColorFormat color_format;
  Layout layout;
  uint64_t buffer_desc;
  uint32_t data_size;
  void *data_ptr;
  PlaneParams planes;
  MappedAddresses mapped_addr;
  void *params_ex;
  void *cuda_buffer;
  void *reserved[kReserved];
};

/// NvBufSurface: a batch of surfaces, which are in the memory of one GPU.
struct SurfaceBatch {
  uint32_t gpu_id;
  uint32_t batch_size;  ///< number of elements of `surfaces`
  uint32_t num_filled;  ///< number of surfaces that hold pictures, from the first on
  bool is_contiguous;
  MemoryType memory_type;
  SurfaceParams *surfaces;
  bool is_imported;
  void *reserved[kReserved];
};

}  // namespace cudatensor::nvmm
