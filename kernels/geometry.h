// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "image.h"

namespace cudatensor {

enum class ResizeMode : uint8_t { stretch, affine, ultralytics, top_left };

/// How a picture lies in the output. Continuous coordinates: pixel i covers [i, i + 1).
struct Geometry {
  ResizeMode mode;
  int src_width, src_height;
  int dst_width, dst_height;
  double step;                        ///< affine only: source pixels per output pixel
  double sx, sy, tx, ty;              ///< out = s · in + t
  int pad_left, pad_top;              ///< where the content begins, in output pixels
  int content_width, content_height;  ///< what the content covers, in output pixels
};

/// The geometry of one resize. Without `scale_up` a letterbox never enlarges; stretch ignores it.
/// Sizes are in pixels and at least 1.
Geometry make_geometry(ResizeMode mode, int src_width, int src_height, int dst_width,
                       int dst_height, bool scale_up);

}  // namespace cudatensor
