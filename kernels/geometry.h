// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "kernels/image.h"

namespace cudatensor {

enum class ResizeMode : uint8_t { stretch, affine, ultralytics, top_left };

/// A part of a picture. Continuous coordinates: pixel i covers [i, i + 1).
struct Region {
  double x, y, width, height;
};

inline bool operator==(const Region &a, const Region &b) {
  return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/// All of a picture.
inline Region whole(const ImageDesc &image) {
  return {0.0, 0.0, static_cast<double>(image.width), static_cast<double>(image.height)};
}

/// A part of an axis, in continuous coordinates.
struct Extent {
  double begin, length;
};

/// Of a region, pixels: sides that fixed-point plans tell from 0.
constexpr double kLeastSide = 0x1p-18;

/// Whether both sides are at least kLeastSide and no number is beyond ±2^30.
bool is_region(const Region &region);
/// Throws Error where it is none.
void check_region(const Region &region);

/// What of a region lies in a picture of width × height, if that is one.
std::optional<Region> clip(const Region &region, int width, int height);

/// How a picture, or a region of it, lies in the output. Continuous coordinates.
struct Geometry {
  ResizeMode mode;
  int src_width, src_height;
  Region region;
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

/// The same of a region of that picture, which fills the output as a picture of its size would.
Geometry make_geometry(ResizeMode mode, int src_width, int src_height, const Region &region,
                       int dst_width, int dst_height, bool scale_up);

}  // namespace cudatensor
