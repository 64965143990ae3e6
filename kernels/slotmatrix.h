// SPDX-License-Identifier: LGPL-2.1-or-later
// The matrices of slots that show what a detector has found: a turned box upright, or a face whose
// points are aligned.
#pragma once

#include <optional>
#include <vector>

#include "kernels/geometry.h"

namespace cudatensor {

/// A rectangle that is turned about its center, in continuous coordinates of the stored picture.
struct OrientedBox {
  double center_x, center_y, width, height;
  double radians;  ///< clockwise
};

/// Returns the matrix that shows a box upright in a slot: stretched, or with a letterbox mode in the
/// middle of the slot with one scale, which is at most 1 without `fit.scale_up`. `fit` is no crop.
/// Returns no value if the box has no area, or if check_matrix() refuses the matrix.
std::optional<Matrix> upright(const OrientedBox &box, const Fit &fit, int dst_width,
                              int dst_height);

/// Whether the picture covers a part of the box.
bool touches(const OrientedBox &box, const ImageDesc &picture);

/// Returns the similarity without reflection that maps `from` to `to` with the least sum of squared
/// distances. Returns no value if the points of `from` are all equal, or not two for each other.
std::optional<Matrix> similarity(const std::vector<Point> &from, const std::vector<Point> &to);

/// Returns the matrix that brings points of the stored picture to those of a template in the slot,
/// both with samples at whole numbers. The similarity is that of the seen picture, so that a mirrored
/// one is aligned, too. Returns no value as similarity() does, or if check_matrix() refuses the
/// matrix.
std::optional<Matrix> aligned(const std::vector<Point> &points,
                              const std::vector<Point> &template_points, const ImageDesc &stored,
                              Direction direction, int dst_width, int dst_height);

/// Whether a slot of width × height by the matrix shows a part of the picture.
bool shows(const Matrix &matrix, double width, double height, const ImageDesc &picture);

}  // namespace cudatensor
