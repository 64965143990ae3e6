// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes blocks of frames.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "settings/region.h"
#include "watch/blocks.h"

namespace luminance {

/// The pixels of a frame that blocks are made of: so many columns and lines.
constexpr size_t kBlockColumns = Blocks::kColumns * 16, kBlockLines = Blocks::kRows * 16;

/// For frames of one size.
class BlockSampler {
 public:
  /// Blocks are those of the cutout's frame. One that is mostly masked does not count, unless all
  /// are.
  explicit BlockSampler(const Cutout<size_t> &pixels);

  /// Null if the frame cannot be mapped, its format is not one that is measured, or all of its
  /// pixels that blocks are made of are masked.
  std::shared_ptr<const Blocks> blocks_of(GstBuffer *buffer, const GstVideoInfo &info) const;

 private:
  struct Block {
    unsigned pixels = 0;  // that are not masked
    bool is_visible = false;
  };

  void mask(const Cutout<size_t> &pixels);
  void choose_visible();

  std::array<size_t, kBlockColumns> columns_;  // of pixels
  std::array<size_t, kBlockLines> lines_;
  std::vector<uint8_t> weights_;  // of pixels, line by line: 0 if it is masked; empty: none is
  std::array<Block, Blocks::kCount> blocks_ = {};
  size_t visible_ = 0;  // blocks
};

}  // namespace luminance
