// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/nvmm/surfaces.h"

#include <string>

#include "gst/nvmm/colorformat.h"
#include "kernels/error.h"

namespace cudatensor::nvmm {
namespace {

constexpr const char *kConverter =
    ": put nvvideoconvert nvbuf-memory-type=nvbuf-mem-cuda-device bl-output=false before this "
    "element";

constexpr const char *kMemoryNames[] = {"NVBUF_MEM_DEFAULT",       "NVBUF_MEM_CUDA_PINNED",
                                        "NVBUF_MEM_CUDA_DEVICE",   "NVBUF_MEM_CUDA_UNIFIED",
                                        "NVBUF_MEM_SURFACE_ARRAY", "NVBUF_MEM_HANDLE",
                                        "NVBUF_MEM_SYSTEM",        "NVBUF_MEM_CUDA_ARRAY"};

std::string name_of(MemoryType type) {
  const auto i = static_cast<size_t>(type);
  return i < std::size(kMemoryNames) ? kMemoryNames[i]
                                     : "memory type " + std::to_string(static_cast<int>(type));
}

std::string size_text(const SurfaceParams &surface) {
  return std::to_string(surface.width) + "x" + std::to_string(surface.height);
}

/// Whether the rows of a plane lie within the surface.
bool holds(const SurfaceParams &surface, int plane, const PlaneSize &size) {
  const uint64_t pitch = surface.planes.pitch[plane];
  const uint64_t end = surface.planes.offset[plane] + (size.rows - 1) * pitch + size.row;
  return pitch >= size.row && end <= surface.data_size;
}

}  // namespace

SurfaceMap::SurfaceMap(GstBuffer *buffer) : buffer_(buffer) {
  if (!gst_buffer_map(buffer, &map_, GST_MAP_READ))
    throw Error(Error::Code::frame, "a buffer with memory:NVMM cannot be mapped");
  try {
    check_batch();
  } catch (...) {
    gst_buffer_unmap(buffer, &map_);
    throw;
  }
}

/// Throws Error unless the memory can be a batch of surfaces. Releases of DeepStream before 7.0
/// describe surfaces in a shorter structure.
void SurfaceMap::check_batch() const {
  if (map_.size < sizeof(SurfaceBatch))
    throw Error(Error::Code::input, "a buffer with memory:NVMM has " + std::to_string(map_.size) +
                                        " bytes instead of the " +
                                        std::to_string(sizeof(SurfaceBatch)) +
                                        " of an NvBufSurface of DeepStream 9.0");
  const bool missing = batch().num_filled > 0 && batch().surfaces == nullptr;
  if (missing || batch().num_filled > batch().batch_size)
    throw Error(Error::Code::frame, "an NvBufSurface for " + std::to_string(batch().batch_size) +
                                        " surfaces has " + std::to_string(batch().num_filled) +
                                        " filled ones");
}

void SurfaceMap::check_readable(bool by_cpu) const {
  const MemoryType type = batch().memory_type;
  if (type == MemoryType::cuda_pinned || type == MemoryType::cuda_unified) return;
  if (type == MemoryType::cuda_device && !by_cpu) return;
  if (type == MemoryType::cuda_device)
    throw Error(Error::Code::input,
                "the CPU cannot read surfaces of NVBUF_MEM_CUDA_DEVICE: set backend=cuda, or put "
                "nvvideoconvert nvbuf-memory-type=nvbuf-mem-cuda-pinned before this element");
  throw Error(Error::Code::input, "surfaces of " + name_of(type) + " cannot be read" + kConverter);
}

Source SurfaceMap::source(size_t i) const {
  const SurfaceParams &s = surface(i);
  const auto format = format_of(s.color_format);
  if (!format)
    throw Error(Error::Code::input, "a surface has the NvBufSurfaceColorFormat " +
                                        std::to_string(static_cast<int>(s.color_format)) +
                                        ", which is not supported: put nvvideoconvert before this "
                                        "element, with video/x-raw(memory:NVMM),format=NV12 or "
                                        "RGBA behind it");
  const auto fits = [](uint32_t side) { return side >= 1 && side <= kMaxImageSize; };
  if (!fits(s.width) || !fits(s.height))
    throw Error(Error::Code::frame, "a surface is " + size_text(s) +
                                        " pixels, but pictures are 1 to " +
                                        std::to_string(kMaxImageSize) + " wide and high");
  return {{format->format, static_cast<int>(s.width), static_cast<int>(s.height)},
          format->colorimetry};
}

ConstImage SurfaceMap::view(size_t i) const {
  const SurfaceParams &s = surface(i);
  if (s.layout != Layout::pitch)
    throw Error(Error::Code::input,
                std::string("a surface in block-linear layout cannot be read") + kConverter);
  ConstImage image = {};
  image.desc = source(i).image;
  const auto *data = static_cast<const uint8_t *>(s.data_ptr);
  for (int p = 0; p < layout_of(image.desc.format).planes; ++p) {
    if (data == nullptr || !holds(s, p, plane_size(image.desc, p)))
      throw Error(Error::Code::frame,
                  "a surface of " + std::to_string(s.data_size) + " bytes is too small for a " +
                      cudatensor::name_of(image.desc.format) + " picture of " + size_text(s));
    image.planes[p] = {data + s.planes.offset[p], static_cast<ptrdiff_t>(s.planes.pitch[p])};
  }
  return image;
}

}  // namespace cudatensor::nvmm
