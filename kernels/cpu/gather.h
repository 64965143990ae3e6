// SPDX-License-Identifier: LGPL-2.1-or-later
// Gathers the samples that a plan's columns read: turns a row of any pixel step and scaling ratio
// into contiguous words for the arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/image.h"

namespace cudatensor::cpu {

/// The bytes that are read together from one pixel of a plane.
struct PixelBytes {
  int step;           ///< bytes from a pixel to its right neighbor
  int count;          ///< 1, 2 or 4
  uint8_t offset[4];  ///< offset of each byte in the pixel
};

/// Returns the entries of an AxisPlan or FixedAxisPlan for component `c`.
template <class Axis>
const auto &taps_of(const Axis &axis, int c) {
  return c > 0 && !axis.chroma.empty() ? axis.chroma : axis.luma;
}

/// Returns the entry of the row after y, or of the last row.
template <class T>
const T &next_of(const std::vector<T> &lines, int y) {
  return lines[std::min<size_t>(y + 1, lines.size() - 1)];
}

/// Returns the first byte of row y in the plane of component `c`.
inline const uint8_t *plane_row(const ConstImage &in, const FormatLayout &layout, int c, int y) {
  const Component &component = layout.component[c];
  return in.row(component, y) - component.offset;
}

/// Returns the number of consecutive components in [first, end) that share the pixels of component
/// `first`.
int components_in_pixel(const FormatLayout &layout, int first, int end);

/// Returns the bytes of components [first, first + count), which share pixels. For three
/// components, the fourth byte repeats the last one.
PixelBytes pixel_bytes(const FormatLayout &layout, int first, int count);

/// A section of a row with the size of one shuffle instruction, RowKernels::window bytes. It
/// contains all bytes of the words gathered from it.
struct Window {
  static constexpr int kMaxBytes = 64;

  int32_t from;  ///< byte offset in the row
  int32_t to;    ///< byte offset in the gathered words
};

/// Gathers words from rows. A word holds the bytes of one pixel in order, or of two pixels if
/// `taps` is 2. Windows never extend beyond the row.
class Gather {
 public:
  Gather() = default;

  /// Word x holds the pixels positions[x · taps …], which are neighbors or identical. Rows have
  /// `width` pixels.
  Gather(const std::vector<int32_t> &positions, int taps, PixelBytes pixel, int width);

  /// Returns the buffer size of a gathered row, which includes the overrun of the last window.
  size_t row_size() const { return words_ + Window::kMaxBytes; }

  /// Gathers one row and prefetches the same bytes of row `ahead`, the next row that has not been
  /// gathered yet.
  void run(const uint8_t *row, const uint8_t *ahead, uint8_t *words) const;

 private:
  void add_window(const std::vector<int32_t> &bytes, size_t begin, size_t end);

  int row_bytes_ = 0;
  size_t words_ = 0;  // total bytes of the words
  std::vector<Window> windows_;
  std::vector<uint8_t> shuffles_;  // shuffle indices of all windows, in order
};

}  // namespace cudatensor::cpu
