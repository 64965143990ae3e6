// SPDX-License-Identifier: LGPL-2.1-or-later
// A coarse picture: the distribution of light and dark, which a histogram does not have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace luminance {

/// The mean luma of each of 16 x 12 blocks of a picture, or of the part of it that is judged, times
/// 256. Each mean is that of 256 pixels of the block, whatever the size of the picture, so that
/// sensor noise has the same effect in large and in small pictures.
struct Blocks {
  static constexpr size_t kColumns = 16, kRows = 12, kCount = kColumns * kRows;
  static constexpr int kLuma = 256;  // represents a luma of 1

  std::array<uint16_t, kCount> means = {};  // 0: the block is masked
  size_t visible = kCount;                  // number of blocks that are not masked; at least one
};

}  // namespace luminance
