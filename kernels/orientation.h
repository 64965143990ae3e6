// SPDX-License-Identifier: LGPL-2.1-or-later
// The directions in which a stored picture is seen.
#pragma once

#include "kernels/image.h"

namespace cudatensor {

/// How a stored picture is turned to be seen upright. The values are those of
/// GstVideoOrientationMethod.
enum class Direction : uint8_t {
  identity,
  clockwise,         ///< 90° to the right
  half_turn,         ///< 180°
  counterclockwise,  ///< 90° to the left
  horizontal,        ///< left and right change places
  vertical,          ///< top and bottom change places
  main_diagonal,     ///< flipped across the diagonal from the upper left to the lower right
  anti_diagonal,     ///< flipped across the diagonal from the upper right to the lower left
};

/// A direction as properties of the axes of the seen picture.
struct Orientation {
  bool transposed;  ///< the x axis of the seen picture lies along the y axis of the stored one
  bool mirrored_x;  ///< the x axis of the seen picture runs against its axis of the stored one
  bool mirrored_y;
};

constexpr Orientation orientation_of(Direction direction) {
  switch (direction) {
    case Direction::identity: return {false, false, false};
    case Direction::clockwise: return {true, true, false};
    case Direction::half_turn: return {false, true, true};
    case Direction::counterclockwise: return {true, false, true};
    case Direction::horizontal: return {false, true, false};
    case Direction::vertical: return {false, false, true};
    case Direction::main_diagonal: return {true, false, false};
    case Direction::anti_diagonal: return {true, true, true};
  }
  return {};
}

/// Returns the direction that turns a seen picture back.
constexpr Direction inverse_of(Direction direction) {
  if (direction == Direction::clockwise) return Direction::counterclockwise;
  return direction == Direction::counterclockwise ? Direction::clockwise : direction;
}

/// Returns the seen picture of a stored one.
constexpr ImageDesc seen(const ImageDesc &stored, Direction direction) {
  if (!orientation_of(direction).transposed) return stored;
  return {stored.format, stored.height, stored.width};
}

}  // namespace cudatensor
