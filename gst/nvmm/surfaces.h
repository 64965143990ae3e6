// SPDX-License-Identifier: LGPL-2.1-or-later
// The surfaces of a buffer with memory:NVMM, as views for kernels. Nothing is copied: the views
// point to the memory of the surfaces, in which DeepStream's elements complete each picture before
// they push its buffer.
#pragma once

#include <gst/gst.h>

#include "gst/nvmm/nvbufsurface.h"
#include "kernels/resample.h"

namespace cudatensor::nvmm {

class SurfaceMap {
 public:
  /// Throws Error if the buffer does not map to a batch of surfaces.
  explicit SurfaceMap(GstBuffer *buffer);
  ~SurfaceMap() { gst_buffer_unmap(buffer_, &map_); }
  SurfaceMap(const SurfaceMap &) = delete;
  SurfaceMap &operator=(const SurfaceMap &) = delete;

  /// The index of the GPU on which the surfaces were allocated.
  int gpu() const { return static_cast<int>(batch().gpu_id); }
  /// The number of surfaces that hold pictures.
  size_t filled() const { return batch().num_filled; }

  /// Throws Error if the surfaces are in memory that neither a kernel nor, with `by_cpu`, this
  /// process can read. The error names the element that converts them.
  void check_readable(bool by_cpu) const;

  /// Returns the format and size of a surface. Throws Error if the color format is not supported.
  /// The position of chroma is not known.
  Source source(size_t i) const;
  /// Returns the picture of a surface. Throws Error if the surface is too small for its format, or
  /// block-linear.
  ConstImage view(size_t i) const;

 private:
  const SurfaceBatch &batch() const { return *reinterpret_cast<const SurfaceBatch *>(map_.data); }
  void check_batch() const;
  const SurfaceParams &surface(size_t i) const { return batch().surfaces[i]; }

  GstBuffer *buffer_;
  GstMapInfo map_;
};

}  // namespace cudatensor::nvmm
