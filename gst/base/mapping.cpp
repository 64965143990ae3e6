// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/mapping.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "gst/caps/videocaps.h"
#include "gst/cuda/cudamemory.h"

namespace cudatensor {
namespace {

std::string size_text(GstBuffer *buffer) {
  return "a buffer of " + std::to_string(gst_buffer_get_size(buffer)) + " bytes";
}

std::string text_of(const ImageDesc &image) {
  return std::string("a ") + name_of(image.format) + " picture of " + std::to_string(image.width) +
         "x" + std::to_string(image.height);
}

template <class ImageType>
ImageType view_of(const ImageDesc &desc, const GstVideoFrame &frame) {
  ImageType image = {};
  image.desc = desc;
  for (int i = 0; i < layout_of(desc.format).planes; ++i)
    image.planes[i] = {static_cast<uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, i)),
                       GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i)};
  return image;
}

/// Returns the error code for a buffer that cannot be mapped. An input that cannot be read affects
/// only its frame. An output that cannot be written is fatal, because its pool would go on giving
/// such buffers.
Error::Code fault_of(GstMapFlags flags) {
  return (flags & GST_MAP_WRITE) != 0 ? Error::Code::input : Error::Code::frame;
}

/// Throws Error if the buffer's GstVideoMeta contradicts the caps, which gst_video_frame_map()
/// would treat as a programming error. The meta may describe a larger picture, which has padding.
void check_meta(const ImageDesc &desc, const GstVideoInfo &info, GstBuffer *buffer,
                GstMapFlags flags) {
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  if (meta == nullptr ||
      (meta->format == GST_VIDEO_INFO_FORMAT(&info) &&
       meta->width >= static_cast<guint>(info.width) &&
       meta->height >= static_cast<guint>(info.height) && meta->n_planes == info.finfo->n_planes))
    return;
  throw Error(fault_of(flags), size_text(buffer) + " has a GstVideoMeta for a " +
                                   gst_video_format_to_string(meta->format) + " picture of " +
                                   std::to_string(meta->width) + "x" +
                                   std::to_string(meta->height) + " in " +
                                   std::to_string(meta->n_planes) +
                                   " planes, but the caps require " + text_of(desc));
}

/// Throws the CUDA error if a GstCudaMemory cannot be mapped at all: the cause is then not the
/// buffer's size.
void check_cuda_map(GstBuffer *buffer, GstMapFlags flags) {
  const gstcuda::Memory *memory = cuda_memory_of(buffer);
  if (memory == nullptr) return;
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, flags))
    throw_libgstcuda_error("mapping a GstCudaMemory", device_id_of(memory->context));
  gst_buffer_unmap(buffer, &map);
}

}  // namespace

VideoMap::Map(const GstVideoInfo &info, GstBuffer *buffer, GstMapFlags flags)
    : Map(info, image_desc_of(info), buffer, flags) {}

VideoMap::Map(const GstVideoInfo &info, const ImageDesc &desc, GstBuffer *buffer, GstMapFlags flags)
    : desc_(desc) {
  check_meta(desc_, info, buffer, flags);
  if (!gst_video_frame_map(&frame_, &info, buffer, flags)) {
    check_cuda_map(buffer, flags);
    throw Error(fault_of(flags), size_text(buffer) + " cannot be mapped as a picture of " +
                                     std::to_string(info.size) + " bytes");
  }
  try {
    check_planes(fault_of(flags));
  } catch (...) {
    gst_video_frame_unmap(&frame_);
    throw;
  }
}

/// Throws Error if a plane extends beyond the buffer: gst_video_frame_map() checks only the offsets
/// of the planes in a GstVideoMeta, not their ends. With a negative stride, the last row of a plane
/// comes first in memory.
void VideoMap::check_planes(Error::Code fault) const {
  for (int p = 0; p < layout_of(desc_.format).planes; ++p) {
    const GstMapInfo &map = frame_.map[frame_.meta != nullptr ? p : 0];
    const int64_t first = static_cast<const uint8_t *>(frame_.data[p]) - map.data;
    const PlaneSize size = plane_size(desc_, p);
    const auto row = static_cast<int64_t>(size.row), rows = static_cast<int64_t>(size.rows);
    const int64_t stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, p);
    const int64_t last = first + (rows - 1) * stride;
    if (std::abs(stride) < row || std::min(first, last) < 0 ||
        std::max(first, last) + row > static_cast<int64_t>(map.size))
      throw Error(fault, size_text(frame_.buffer) + " is too short for " + text_of(desc_) +
                             " with rows of " + std::to_string(stride) + " bytes");
  }
}

Image VideoMap::view() const { return view_of<Image>(desc_, frame_); }
ConstImage VideoMap::constant() const { return view_of<ConstImage>(desc_, frame_); }

InputMap::Map(const InputCaps &caps, GstBuffer *buffer, GstMapFlags flags) : caps_(caps) {
  if (!caps.in_nvmm) {
    picture_.emplace(caps.info, caps.source.image, buffer, flags);
    return;
  }
  surfaces_.emplace(buffer);
  check_surfaces();
}

void InputMap::check_surfaces() const {
  const auto most = static_cast<size_t>(caps_.surfaces);
  if (count() > most)
    throw Error(Error::Code::frame, "expected at most " + std::to_string(most) +
                                        " surfaces in a buffer, as its caps announce, got " +
                                        std::to_string(count()));
  if (caps_.is_batch) return;
  if (count() == 0)
    throw Error(Error::Code::frame, "expected at least 1 filled surface in a buffer, got 0");
  const ImageDesc &announced = caps_.source.image, found = surfaces_->source(0).image;
  if (!(found == announced))
    throw Error(Error::Code::frame, "a surface with " + text_of(found) +
                                        " does not match the caps, which announce " +
                                        text_of(announced));
}

/// Takes the chroma position from the caps, because a surface's color format does not contain it.
Source InputMap::source(size_t i) const {
  if (!surfaces_) return caps_.source;
  Source source = surfaces_->source(i);
  source.cosited_x = caps_.source.cosited_x;
  source.cosited_y = caps_.source.cosited_y;
  return source;
}

ConstImage InputMap::constant(size_t i) const {
  return surfaces_ ? surfaces_->view(i) : picture_->constant();
}

Source source_of(const InputCaps &caps, GstBuffer *buffer) {
  return caps.in_nvmm ? InputMap(caps, buffer, GST_MAP_READ).source() : caps.source;
}

TensorMap::Map(const TensorDesc &desc, GstBuffer *buffer, GstMapFlags flags)
    : desc_(desc), buffer_(buffer) {
  if (gst_buffer_get_size(buffer) != desc.bytes())
    throw Error(fault_of(flags), size_text(buffer) + " does not match the tensor of " +
                                     std::to_string(desc.bytes()) +
                                     " bytes that the caps describe");
  if (!gst_buffer_map(buffer, &map_, flags)) {
    check_cuda_map(buffer, flags);
    throw Error(fault_of(flags), size_text(buffer) + " cannot be mapped");
  }
}

}  // namespace cudatensor
