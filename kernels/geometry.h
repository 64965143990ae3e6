// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "kernels/matrix.h"
#include "kernels/orientation.h"

namespace cudatensor {

enum class ResizeMode : uint8_t {
  stretch,
  affine,
  ultralytics,
  top_left,
  torchvision,
  transformers
};

/// Whether the mode resizes the shorter edge and crops the center.
constexpr bool is_crop(ResizeMode mode) {
  return mode == ResizeMode::torchvision || mode == ResizeMode::transformers;
}

/// A rectangle in a picture, in continuous coordinates: pixel i covers [i, i + 1).
struct Region {
  double x, y, width, height;
};

inline bool operator==(const Region &a, const Region &b) {
  return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/// The region that covers a whole picture.
inline Region whole(const ImageDesc &image) {
  return {0.0, 0.0, static_cast<double>(image.width), static_cast<double>(image.height)};
}

/// An interval of one axis, in continuous coordinates.
struct Extent {
  double begin, length;
};

/// The minimum side of a region in pixels. Shorter sides would be 0 in fixed-point plans.
constexpr double kMinSide = 0x1p-18;

/// Whether both sides are at least kMinSide and all values are within ±2^30.
bool is_region(const Region &region);
/// Throws Error unless is_region().
void check_region(const Region &region);

/// Clips a region to a picture of width × height. Returns no value if the result is not a region.
std::optional<Region> clip(const Region &region, int width, int height);

/// Returns a region of the stored picture in coordinates of the seen picture.
Region seen(const Region &region, const ImageDesc &stored, Direction direction);

/// Returns the matrix from the stored picture to the seen one.
Matrix seen_from_stored(const ImageDesc &stored, Direction direction);

/// The position of a seen picture, or of a region of it, in the output, in continuous coordinates.
struct Geometry {
  ResizeMode mode;
  int src_width, src_height;
  Region region;
  int dst_width, dst_height;
  double step;                        ///< source pixels per output pixel with affine, otherwise 0
  double sx, sy, tx, ty;              ///< out = s · in + t
  int pad_left, pad_top;              ///< left and top edge of the content, in output pixels
  int content_width, content_height;  ///< size of the content, in output pixels
  int resized_width, resized_height;  ///< size of the resized picture; 0 with affine
  int offset_x, offset_y;  ///< position of the resized picture in output pixels; below 0 if cropped
  Direction direction;     ///< the direction in which the stored picture is seen

  /// For a slot by a matrix, the matrix from the stored picture to the output, and its inverse. The
  /// direction and the members from `step` to `ty` then have no meaning.
  struct ByMatrix {
    bool is_set;
    Matrix matrix, inverse;
  } slot;
};

/// Returns the matrix from the stored picture to the output.
Matrix matrix_of(const Geometry &geometry);
/// Returns the matrix from the output to the stored picture.
Matrix inverse_of(const Geometry &geometry);
/// Returns the stored picture's size, without a format.
ImageDesc stored_size(const Geometry &geometry);

/// The placement of a picture in the output. Without `scale_up`, letterbox modes never enlarge; the
/// other modes ignore it. `shortest_edge` is the length of the shorter edge after the resize,
/// before the crop; 0 = the longer side of the output.
struct Fit {
  ResizeMode mode = ResizeMode::stretch;
  bool scale_up = true;
  int shortest_edge = 0;
};

/// Computes the geometry of a resize. Sizes are in pixels and at least 1. Throws Error if the
/// resized picture is smaller than a crop of it.
Geometry make_geometry(const Fit &fit, int src_width, int src_height, int dst_width,
                       int dst_height);

/// Computes the geometry for a region, which is placed in the output like a picture of its size.
Geometry make_geometry(const Fit &fit, int src_width, int src_height, const Region &region,
                       int dst_width, int dst_height);

}  // namespace cudatensor
