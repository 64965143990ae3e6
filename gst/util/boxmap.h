// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps boxes from one picture to another that shows it scaled, moved, cropped or turned.
#pragma once

#include <optional>

#include "kernels/geometry.h"

namespace cudatensor {

/// A rectangle in pixels of a picture; x and y may be negative.
struct Box {
  int x, y, width, height;
};

inline bool operator==(const Box &a, const Box &b) {
  return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/// A map of continuous coordinates, whose determinant is not 0.
struct BoxMap {
  Matrix matrix;
  int in_width, in_height, out_width, out_height;  ///< sizes of the pictures
};

BoxMap box_map_of(const Geometry &geometry);
/// Returns the map that scales a whole picture.
BoxMap scaling(int in_width, int in_height, int out_width, int out_height);
BoxMap inverse_of(const BoxMap &map);
/// Returns the map that applies `first`, then `second`.
BoxMap compose(const BoxMap &first, const BoxMap &second);

/// Whether the map neither turns nor mirrors the picture.
bool is_upright(const BoxMap &map);

enum class Rounding { outwards, nearest };

/// Returns the box around the mapped one, without clipping it. Each side of the result has at least
/// one pixel.
Box map_box(const BoxMap &map, const Box &box, Rounding rounding);
/// Maps a box and clips it to the picture. Returns no value if the box is empty or outside the
/// picture.
std::optional<Box> map_box_clipped(const BoxMap &map, const Box &box, Rounding rounding);

/// The same for a box whose corners are not whole, which is rounded only once.
std::optional<Box> map_region_clipped(const BoxMap &map, const Region &region, Rounding rounding);

/// A box that is turned about its center.
struct TurnedBox {
  Box box;
  float radians;  ///< clockwise
};

/// Returns the box nearest to the mapped one: a map may turn a rectangle into a parallelogram,
/// of which the direction and the length of both sides are kept.
TurnedBox map_box(const BoxMap &map, const TurnedBox &turned);

}  // namespace cudatensor
