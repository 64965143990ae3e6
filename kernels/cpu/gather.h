// SPDX-License-Identifier: LGPL-2.1-or-later
// The samples that a plan's columns read, brought next to each other: a row of any step and ratio
// becomes a row of words that the arithmetic goes through one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/image.h"

namespace cudatensor::cpu {

/// The components that are read together, of one pixel of a plane.
struct PixelBytes {
  int step;           ///< from a pixel to its right neighbour
  int components;     ///< 1 to 3
  uint8_t offset[3];  ///< of each component
};

/// The table that component `c` of a layout is read by: an AxisPlan's or a FixedAxisPlan's.
template <class Axis>
const auto &taps_of(const Axis &axis, const FormatLayout &layout, int c) {
  return c > 0 && layout.subsampled ? axis.chroma : axis.luma;
}

/// Of a table by rows, the entry of the row after y.
template <class T>
const T &next_of(const std::vector<T> &lines, int y) {
  return lines[std::min<size_t>(y + 1, lines.size() - 1)];
}

/// Row y of the plane that holds component `c`, from its first byte on.
inline const uint8_t *plane_row(const ConstImage &in, const FormatLayout &layout, int c, int y) {
  const Component &component = layout.component[c];
  return in.row(component, y) - component.offset;
}

/// How many components lie in the plane of component `first`, from there on and before `end`.
int components_together(const FormatLayout &layout, int first, int end);

/// The components first .. first + count of a layout, which share a plane.
PixelBytes pixel_bytes(const FormatLayout &layout, int first, int count);

/// A piece of a row, as long as a shuffle of this CPU takes: RowKernels::window bytes. It has all of
/// the words that are put together from it.
struct Window {
  static constexpr int kMaxBytes = 64;

  int32_t from;  ///< where it begins in the row …
  int32_t to;    ///< … and among the words
};

/// A word has the components of a pixel in their order, 1, 2 or 4 bytes, the last of 4 undefined;
/// where `taps` is 2, those of both pixels. No window leaves its row.
class Gather {
 public:
  Gather() = default;

  /// Word x has the pixels positions[x · taps …], neighbours or the same; they lie in rows of `width`
  /// pixels.
  Gather(const std::vector<int32_t> &positions, int taps, PixelBytes pixel, int width);

  /// Bytes that a gathered row takes: more than its words have.
  size_t row_size() const { return words_ + Window::kMaxBytes; }

  /// Meanwhile the same bytes of row `ahead` come into the cache: the one to gather next but for
  /// those that were.
  void run(const uint8_t *row, const uint8_t *ahead, uint8_t *words) const;

 private:
  void add_window(const std::vector<int32_t> &bytes, size_t begin, size_t end);

  int row_bytes_ = 0;
  size_t words_ = 0;  // bytes of them
  std::vector<Window> windows_;
  std::vector<uint8_t> shuffles_;  // of each window, one after the other
};

}  // namespace cudatensor::cpu
