// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture in little: where it is bright and where dark, which a histogram does not know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace luminance {

/// The mean luma of each block of a picture that is cut into 16 x 12, times 256. A mean is that of
/// 256 pixels of its block, whatever the picture's size: so the noise of a sensor shows as much in
/// a large picture as in a small one.
struct Blocks {
  static constexpr size_t kColumns = 16, kRows = 12, kCount = kColumns * kRows;
  static constexpr int kLuma = 256;  // a luma of 1

  std::array<uint16_t, kCount> means = {};
};

}  // namespace luminance
