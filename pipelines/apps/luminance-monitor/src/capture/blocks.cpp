// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/blocks.h"

#include <algorithm>

#include "capture/lumas.h"

namespace luminance {
namespace {

constexpr size_t kSide = kBlockColumns / Blocks::kColumns;  // pixels per side of a block
static_assert(kSide == kBlockLines / Blocks::kRows, "blocks are squares");
static_assert(kSide * kSide == Blocks::kLuma, "the sum of a block is its mean times 256");

using Columns = std::array<size_t, kBlockColumns>;

/// Adds the lumas of pixels at these bytes of line `y` to the blocks of a row.
void add(const Lumas &lumas, size_t y, const Columns &places, uint16_t *row) {
  lumas.read(y, [&](const auto &luma_at) {
    for (size_t block = 0; block < Blocks::kColumns; ++block) {
      unsigned sum = 0;
      for (size_t i = block * kSide; i < (block + 1) * kSide; ++i) sum += luma_at(places[i]);
      row[block] = static_cast<uint16_t>(row[block] + sum);
    }
  });
}

/// Does the same for the pixels whose weight is 1.
void add(const Lumas &lumas, size_t y, const Columns &places, const uint8_t *weights,
         uint16_t *row) {
  lumas.read(y, [&](const auto &luma_at) {
    for (size_t block = 0; block < Blocks::kColumns; ++block) {
      unsigned sum = 0;
      for (size_t i = block * kSide; i < (block + 1) * kSide; ++i)
        sum += luma_at(places[i]) * weights[i];
      row[block] = static_cast<uint16_t>(row[block] + sum);
    }
  });
}

size_t block_of(size_t line, size_t column) {
  return line / kSide * Blocks::kColumns + column / kSide;
}

bool contains(const Box<size_t> &box, size_t x, size_t y) {
  return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
}

}  // namespace

BlockSampler::BlockSampler(const Cutout<size_t> &pixels) {
  const Box<size_t> &frame = pixels.frame;
  if (frame.is_empty()) return;
  for (size_t i = 0; i < kBlockColumns; ++i)
    columns_[i] = frame.left + (2 * i + 1) * (frame.right - frame.left) / (2 * kBlockColumns);
  for (size_t i = 0; i < kBlockLines; ++i)
    lines_[i] = frame.top + (2 * i + 1) * (frame.bottom - frame.top) / (2 * kBlockLines);
  for (Block &block : blocks_) block = {Blocks::kLuma, true};
  visible_ = Blocks::kCount;
  if (pixels.holes.empty()) return;
  mask(pixels);
  choose_visible();
}

void BlockSampler::mask(const Cutout<size_t> &pixels) {
  weights_.assign(kBlockLines * kBlockColumns, 1);
  for (size_t line = 0; line < kBlockLines; ++line)
    for (size_t column = 0; column < kBlockColumns; ++column) {
      const bool is_masked = std::any_of(
          pixels.holes.begin(), pixels.holes.end(),
          [&](const Box<size_t> &hole) { return contains(hole, columns_[column], lines_[line]); });
      if (!is_masked) continue;
      weights_[line * kBlockColumns + column] = 0;
      --blocks_[block_of(line, column)].pixels;
    }
}

/// Prefers blocks of which at least half is not masked: the mean of few pixels has more noise.
void BlockSampler::choose_visible() {
  for (const unsigned min_pixels : {Blocks::kLuma / 2, 1}) {
    visible_ = 0;
    for (Block &block : blocks_) {
      block.is_visible = block.pixels >= min_pixels;
      visible_ += block.is_visible;
    }
    if (visible_ > 0) return;
  }
}

std::shared_ptr<const Blocks> BlockSampler::blocks_of(GstBuffer *buffer,
                                                      const GstVideoInfo &info) const {
  GstVideoFrame frame;
  if (visible_ == 0 || !has_lumas(info) ||
      !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ))
    return nullptr;
  auto blocks = std::make_shared<Blocks>();
  const Lumas lumas(frame);
  Columns places;  // byte offsets in a line
  for (size_t i = 0; i < kBlockColumns; ++i) places[i] = columns_[i] * lumas.step();
  for (size_t i = 0; i < kBlockLines; ++i) {
    uint16_t *const row = &blocks->means[block_of(i, 0)];
    if (weights_.empty())
      add(lumas, lines_[i], places, row);
    else
      add(lumas, lines_[i], places, &weights_[i * kBlockColumns], row);
  }
  gst_video_frame_unmap(&frame);
  blocks->visible = visible_;
  for (size_t i = 0; i < Blocks::kCount; ++i) {
    const auto [pixels, is_visible] = blocks_[i];
    const unsigned sum = is_visible ? blocks->means[i] * static_cast<unsigned>(Blocks::kLuma) : 0;
    blocks->means[i] = static_cast<uint16_t>(is_visible ? (sum + pixels / 2) / pixels : 0);
  }
  return blocks;
}

}  // namespace luminance
