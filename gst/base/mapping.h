// SPDX-License-Identifier: LGPL-2.1-or-later
// RAII maps of buffers as the kernels' image and tensor views. Strides and offsets come from the
// buffer's GstVideoMeta, if it has one. The meta may describe a larger picture, of which the upper
// left part is used, and its strides may be negative. A buffer that cannot be read is an
// Error::Code::frame.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "gst/caps/inputcaps.h"
#include "gst/nvmm/surfaces.h"
#include "kernels/error.h"
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
  /// The same if the description is known.
  Map(const GstVideoInfo &info, const ImageDesc &desc, GstBuffer *buffer, GstMapFlags flags);
  ~Map() { gst_video_frame_unmap(&frame_); }
  Map(const Map &) = delete;
  Map &operator=(const Map &) = delete;

  Image view() const;
  ConstImage constant() const;

 private:
  void check_planes(Error::Code fault) const;

  ImageDesc desc_;  // the picture of the caps; that of frame_ may be larger
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

/// The pictures of an element's input, mapped for reading: one picture, or those of a batch of
/// surfaces.
template <>
class Map<InputCaps> {
 public:
  /// Throws Error like Map<GstVideoInfo>, and if a picture does not match the caps. The surfaces of
  /// a batch may have any size and format.
  Map(const InputCaps &caps, GstBuffer *buffer, GstMapFlags flags);

  size_t count() const { return surfaces_ ? surfaces_->filled() : 1; }
  Source source(size_t i = 0) const;
  ConstImage constant(size_t i = 0) const;

 private:
  void check_surfaces() const;

  const InputCaps &caps_;
  std::optional<Map<GstVideoInfo>> picture_;
  std::optional<nvmm::SurfaceMap> surfaces_;
};

/// Returns the source of the first picture, from its surface if it has one, otherwise from the
/// caps. Throws Error.
Source source_of(const InputCaps &caps, GstBuffer *buffer);

using VideoMap = Map<GstVideoInfo>;
using InputMap = Map<InputCaps>;
using TensorMap = Map<TensorDesc>;

}  // namespace cudatensor
