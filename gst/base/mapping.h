// SPDX-License-Identifier: LGPL-2.1-or-later
// RAII maps of buffers as the kernels' image and tensor views. Strides and offsets come from the
// buffer's GstVideoMeta, if it has one.
#pragma once

#include <gst/video/video.h>

#include "kernels/image.h"
#include "kernels/tensor.h"

namespace cudatensor {

template <class Spec>
class Map;

/// Describes a picture from its GstVideoInfo.
template <>
class Map<GstVideoInfo> {
 public:
  /// Throws Error if the buffer cannot be mapped or is too short for its picture.
  Map(const GstVideoInfo &info, GstBuffer *buffer, GstMapFlags flags);
  ~Map() { gst_video_frame_unmap(&frame_); }
  Map(const Map &) = delete;
  Map &operator=(const Map &) = delete;

  Image view() const;
  ConstImage constant() const;

 private:
  void check_planes() const;

  GstVideoFrame frame_;
};

template <>
class Map<TensorDesc> {
 public:
  /// Throws Error if the buffer cannot be mapped or its size differs from the tensor's.
  Map(const TensorDesc &desc, GstBuffer *buffer, GstMapFlags flags);
  ~Map() { gst_buffer_unmap(buffer_, &map_); }
  Map(const Map &) = delete;
  Map &operator=(const Map &) = delete;

  Tensor view() const { return {desc_, map_.data}; }
  ConstTensor constant() const { return {desc_, map_.data}; }

 private:
  TensorDesc desc_;
  GstBuffer *buffer_;
  GstMapInfo map_;
};

using VideoMap = Map<GstVideoInfo>;
using TensorMap = Map<TensorDesc>;

}  // namespace cudatensor
