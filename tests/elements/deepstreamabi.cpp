// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the declarations in gst/nvmm/nvbufsurface.h and nvdsmeta.h with DeepStream's headers.
#include <gst/gst.h>
#include <gtest/gtest.h>
#include <nvbufsurface.h>
#include <nvdsmeta.h>

#include <cstddef>

#include "gst/nvmm/nvbufsurface.h"
#include "gst/nvmm/nvdsmeta.h"

namespace cudatensor {
namespace {

/// Checks that our member has the offset and size of DeepStream's.
#define EXPECT_SAME(Ours, ours, Theirs, theirs)                \
  do {                                                         \
    EXPECT_EQ(offsetof(Ours, ours), offsetof(Theirs, theirs)); \
    EXPECT_EQ(sizeof(Ours::ours), sizeof(Theirs::theirs));     \
  } while (false)

TEST(DeepStreamAbi, PlaneParams) {
  using Ours = nvmm::PlaneParams;
  using Theirs = NvBufSurfacePlaneParams;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_SAME(Ours, num_planes, Theirs, num_planes);
  EXPECT_SAME(Ours, width, Theirs, width);
  EXPECT_SAME(Ours, height, Theirs, height);
  EXPECT_SAME(Ours, pitch, Theirs, pitch);
  EXPECT_SAME(Ours, offset, Theirs, offset);
  EXPECT_SAME(Ours, psize, Theirs, psize);
  EXPECT_SAME(Ours, bytes_per_pixel, Theirs, bytesPerPix);
}

TEST(DeepStreamAbi, SurfaceParams) {
  using Ours = nvmm::SurfaceParams;
  using Theirs = NvBufSurfaceParams;
  EXPECT_EQ(sizeof(nvmm::MappedAddresses), sizeof(NvBufSurfaceMappedAddr));
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_SAME(Ours, width, Theirs, width);
  EXPECT_SAME(Ours, height, Theirs, height);
  EXPECT_SAME(Ours, pitch, Theirs, pitch);
  EXPECT_SAME(Ours, color_format, Theirs, colorFormat);
  EXPECT_SAME(Ours, layout, Theirs, layout);
  EXPECT_SAME(Ours, data_size, Theirs, dataSize);
  EXPECT_SAME(Ours, data_ptr, Theirs, dataPtr);
  EXPECT_SAME(Ours, planes, Theirs, planeParams);
  EXPECT_SAME(Ours, mapped_addr, Theirs, mappedAddr);
}

TEST(DeepStreamAbi, SurfaceBatch) {
  using Ours = nvmm::SurfaceBatch;
  using Theirs = ::NvBufSurface;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_SAME(Ours, gpu_id, Theirs, gpuId);
  EXPECT_SAME(Ours, batch_size, Theirs, batchSize);
  EXPECT_SAME(Ours, num_filled, Theirs, numFilled);
  EXPECT_SAME(Ours, memory_type, Theirs, memType);
  EXPECT_SAME(Ours, surfaces, Theirs, surfaceList);
}

#define EXPECT_VALUE(ours, theirs) EXPECT_EQ(static_cast<int>(nvmm::ours), static_cast<int>(theirs))

TEST(DeepStreamAbi, MemoryTypesAndLayouts) {
  EXPECT_VALUE(MemoryType::standard, NVBUF_MEM_DEFAULT);
  EXPECT_VALUE(MemoryType::cuda_pinned, NVBUF_MEM_CUDA_PINNED);
  EXPECT_VALUE(MemoryType::cuda_device, NVBUF_MEM_CUDA_DEVICE);
  EXPECT_VALUE(MemoryType::cuda_unified, NVBUF_MEM_CUDA_UNIFIED);
  EXPECT_VALUE(MemoryType::surface_array, NVBUF_MEM_SURFACE_ARRAY);
  EXPECT_VALUE(MemoryType::handle, NVBUF_MEM_HANDLE);
  EXPECT_VALUE(MemoryType::system, NVBUF_MEM_SYSTEM);
  EXPECT_VALUE(MemoryType::cuda_array, NVBUF_MEM_CUDA_ARRAY);
  EXPECT_VALUE(Layout::pitch, NVBUF_LAYOUT_PITCH);
  EXPECT_VALUE(Layout::block_linear, NVBUF_LAYOUT_BLOCK_LINEAR);
}

TEST(DeepStreamAbi, ColorFormats) {
  EXPECT_VALUE(ColorFormat::invalid, NVBUF_COLOR_FORMAT_INVALID);
  EXPECT_VALUE(ColorFormat::gray8, NVBUF_COLOR_FORMAT_GRAY8);
  EXPECT_VALUE(ColorFormat::yuv420, NVBUF_COLOR_FORMAT_YUV420);
  EXPECT_VALUE(ColorFormat::yuv420_er, NVBUF_COLOR_FORMAT_YUV420_ER);
  EXPECT_VALUE(ColorFormat::nv12, NVBUF_COLOR_FORMAT_NV12);
  EXPECT_VALUE(ColorFormat::nv12_er, NVBUF_COLOR_FORMAT_NV12_ER);
  EXPECT_VALUE(ColorFormat::nv21, NVBUF_COLOR_FORMAT_NV21);
  EXPECT_VALUE(ColorFormat::nv21_er, NVBUF_COLOR_FORMAT_NV21_ER);
  EXPECT_VALUE(ColorFormat::yuv444, NVBUF_COLOR_FORMAT_YUV444);
  EXPECT_VALUE(ColorFormat::rgba, NVBUF_COLOR_FORMAT_RGBA);
  EXPECT_VALUE(ColorFormat::bgrx, NVBUF_COLOR_FORMAT_BGRx);
  EXPECT_VALUE(ColorFormat::rgb, NVBUF_COLOR_FORMAT_RGB);
  EXPECT_VALUE(ColorFormat::bgr, NVBUF_COLOR_FORMAT_BGR);
  EXPECT_VALUE(ColorFormat::nv12_10le, NVBUF_COLOR_FORMAT_NV12_10LE);
  EXPECT_VALUE(ColorFormat::yuv420_709, NVBUF_COLOR_FORMAT_YUV420_709);
  EXPECT_VALUE(ColorFormat::yuv420_709_er, NVBUF_COLOR_FORMAT_YUV420_709_ER);
  EXPECT_VALUE(ColorFormat::nv12_709, NVBUF_COLOR_FORMAT_NV12_709);
  EXPECT_VALUE(ColorFormat::nv12_709_er, NVBUF_COLOR_FORMAT_NV12_709_ER);
  EXPECT_VALUE(ColorFormat::yuv420_2020, NVBUF_COLOR_FORMAT_YUV420_2020);
  EXPECT_VALUE(ColorFormat::nv12_2020, NVBUF_COLOR_FORMAT_NV12_2020);
  EXPECT_VALUE(ColorFormat::nv12_10le_er, NVBUF_COLOR_FORMAT_NV12_10LE_ER);
  EXPECT_VALUE(ColorFormat::nv12_10le_709, NVBUF_COLOR_FORMAT_NV12_10LE_709);
  EXPECT_VALUE(ColorFormat::nv12_10le_709_er, NVBUF_COLOR_FORMAT_NV12_10LE_709_ER);
  EXPECT_VALUE(ColorFormat::nv12_10le_2020, NVBUF_COLOR_FORMAT_NV12_10LE_2020);
  EXPECT_VALUE(ColorFormat::yuv444_er, NVBUF_COLOR_FORMAT_YUV444_ER);
  EXPECT_VALUE(ColorFormat::yuv444_709, NVBUF_COLOR_FORMAT_YUV444_709);
  EXPECT_VALUE(ColorFormat::yuv444_709_er, NVBUF_COLOR_FORMAT_YUV444_709_ER);
  EXPECT_VALUE(ColorFormat::yuv444_2020, NVBUF_COLOR_FORMAT_YUV444_2020);
  EXPECT_VALUE(ColorFormat::gray8_er, NVBUF_COLOR_FORMAT_GRAY8_ER);
}

TEST(DeepStreamAbi, BatchMeta) {
  using Ours = nvmm::NvDsBatchMeta;
  using Theirs = ::NvDsBatchMeta;
  EXPECT_EQ(sizeof(nvmm::NvDsBaseMeta), sizeof(::NvDsBaseMeta));
  EXPECT_SAME(Ours, num_frames_in_batch, Theirs, num_frames_in_batch);
  EXPECT_SAME(Ours, frame_meta_list, Theirs, frame_meta_list);
  EXPECT_SAME(Ours, meta_mutex, Theirs, meta_mutex);
}

TEST(DeepStreamAbi, FrameMeta) {
  using Ours = nvmm::NvDsFrameMeta;
  using Theirs = ::NvDsFrameMeta;
  EXPECT_SAME(Ours, pad_index, Theirs, pad_index);
  EXPECT_SAME(Ours, batch_id, Theirs, batch_id);
  EXPECT_SAME(Ours, buf_pts, Theirs, buf_pts);
  EXPECT_SAME(Ours, source_id, Theirs, source_id);
  EXPECT_SAME(Ours, source_frame_width, Theirs, source_frame_width);
  EXPECT_SAME(Ours, source_frame_height, Theirs, source_frame_height);
  EXPECT_SAME(Ours, obj_meta_list, Theirs, obj_meta_list);
}

TEST(DeepStreamAbi, ObjectMeta) {
  using Ours = nvmm::NvDsObjectMeta;
  using Theirs = ::NvDsObjectMeta;
  EXPECT_SAME(Ours, object_id, Theirs, object_id);
  EXPECT_SAME(Ours, confidence, Theirs, confidence);
  EXPECT_EQ(offsetof(Ours, left), offsetof(Theirs, rect_params) + offsetof(NvOSD_RectParams, left));
  EXPECT_EQ(offsetof(Ours, top), offsetof(Theirs, rect_params) + offsetof(NvOSD_RectParams, top));
  EXPECT_EQ(offsetof(Ours, width),
            offsetof(Theirs, rect_params) + offsetof(NvOSD_RectParams, width));
  EXPECT_EQ(offsetof(Ours, height),
            offsetof(Theirs, rect_params) + offsetof(NvOSD_RectParams, height));
  EXPECT_SAME(Ours, label, Theirs, obj_label);
}

}  // namespace
}  // namespace cudatensor
