// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers as the kernels' views, for as long as a map lives. Strides and offsets are those of the
// buffer's GstVideoMeta, where it has one.
#pragma once

#include <gst/video/video.h>

#include "kernels/image.h"
#include "kernels/tensor.h"

namespace cudatensor {

template <class Spec>
class Map;

/// A picture as its caps describe it.
template <>
class Map<GstVideoInfo> {
 public:
  /// Throws Error where the buffer cannot be mapped or is too short for its picture.
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
  /// Throws Error where the buffer cannot be mapped or does not hold exactly the tensor.
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
