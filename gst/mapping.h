// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers as the kernels' views, for as long as a map lives. Strides and offsets are those of the
// buffer's GstVideoMeta, where it has one.
#pragma once

#include <gst/video/video.h>

#include "kernels/image.h"
#include "kernels/tensor.h"

namespace cudatensor {

class VideoMap {
 public:
  /// Throws Error where the buffer cannot be mapped or is too short for its picture.
  VideoMap(const GstVideoInfo &info, GstBuffer *buffer, GstMapFlags flags);
  ~VideoMap() { gst_video_frame_unmap(&frame_); }
  VideoMap(const VideoMap &) = delete;
  VideoMap &operator=(const VideoMap &) = delete;

  Image image() const;
  ConstImage const_image() const;

 private:
  void check_planes() const;

  GstVideoFrame frame_;
};

class TensorMap {
 public:
  /// Throws Error where the buffer cannot be mapped or does not hold exactly the tensor.
  TensorMap(const TensorDesc &desc, GstBuffer *buffer, GstMapFlags flags);
  ~TensorMap() { gst_buffer_unmap(buffer_, &map_); }
  TensorMap(const TensorMap &) = delete;
  TensorMap &operator=(const TensorMap &) = delete;

  Tensor tensor() const { return {desc_, map_.data}; }
  ConstTensor const_tensor() const { return {desc_, map_.data}; }

 private:
  TensorDesc desc_;
  GstBuffer *buffer_;
  GstMapInfo map_;
};

}  // namespace cudatensor
