// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the blocks of frames.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "settings/region.h"
#include "watch/blocks.h"

namespace luminance {

/// Numbers of the columns and lines of a frame from whose pixels the blocks are computed.
constexpr size_t kBlockColumns = Blocks::kColumns * 16, kBlockLines = Blocks::kRows * 16;

/// Computes the blocks of frames of one size.
class BlockSampler {
 public:
  /// The blocks divide the cutout's frame. A block that is mostly masked does not count, unless all
  /// blocks are.
  explicit BlockSampler(const Cutout<size_t> &pixels);

  /// Returns null if the frame cannot be mapped, if its format is not one that is measured, or if
  /// all pixels that the blocks are computed from are masked.
  std::shared_ptr<const Blocks> blocks_of(GstBuffer *buffer, const GstVideoInfo &info) const;

 private:
  struct Block {
    unsigned pixels = 0;  // pixels that are not masked
    bool is_visible = false;
  };

  void mask(const Cutout<size_t> &pixels);
  void choose_visible();

  std::array<size_t, kBlockColumns> columns_;  // x of the pixels
  std::array<size_t, kBlockLines> lines_;      // y of the pixels
  std::vector<uint8_t> weights_;  // per pixel, line by line: 0 if masked, else 1; empty: no masks
  std::array<Block, Blocks::kCount> blocks_ = {};
  size_t visible_ = 0;  // number of visible blocks
};

}  // namespace luminance
