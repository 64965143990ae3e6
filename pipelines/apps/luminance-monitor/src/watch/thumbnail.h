// SPDX-License-Identifier: LGPL-2.1-or-later
// A small picture, and how sharp the large one is: where the edges of a scene are.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace luminance {

struct Thumbnail {
  static constexpr size_t kWidth = 128, kHeight = 72, kPixels = kWidth * kHeight;
  static constexpr int kLuma = 256;  // represents a luma of 1
  using Pixels = std::bitset<kPixels>;
  // Cells of 8 x 8 pixels, in which edges are compared.
  static constexpr size_t kCell = 8, kColumns = kWidth / kCell, kRows = kHeight / kCell;
  static constexpr size_t kCells = kColumns * kRows;

  /// Mean squares of the differences of luma between pixels of a line of the large picture.
  struct Detail {
    float near = 0;   // between neighbours
    float far = 0;    // between pixels 1/240 of the width apart
    float noise = 0;  // between neighbours, away from edges
  };

  std::array<uint16_t, kPixels> lumas = {};  // means
  Pixels masked;                             // pixels without a luma
  std::array<Detail, kCells> details = {};   // all 0: the picture is too small, or the cell masked
};

}  // namespace luminance
