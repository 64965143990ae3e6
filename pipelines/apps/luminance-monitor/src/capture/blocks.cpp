// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/blocks.h"

#include <array>

#include "capture/lumas.h"

namespace luminance {
namespace {

constexpr size_t kSide = kBlockColumns / Blocks::kColumns;  // of a block
static_assert(kSide == kBlockLines / Blocks::kRows, "blocks are squares");
static_assert(kSide * kSide == Blocks::kLuma, "the sum of a block is its mean times 256");

/// Sums up lines at these places.
class Places {
 public:
  explicit Places(const Lumas &lumas) {
    for (size_t i = 0; i < kBlockColumns; ++i)
      places_[i] = (2 * i + 1) * lumas.width() / (2 * kBlockColumns) * lumas.step();
  }

  /// Adds the lumas of line `y` to the blocks of a row.
  void add(const Lumas &lumas, size_t y, uint16_t *row) const {
    lumas.read(y, [&](const auto &luma_at) {
      for (size_t block = 0; block < Blocks::kColumns; ++block) {
        unsigned sum = 0;
        for (size_t i = block * kSide; i < (block + 1) * kSide; ++i) sum += luma_at(places_[i]);
        row[block] = static_cast<uint16_t>(row[block] + sum);
      }
    });
  }

 private:
  std::array<size_t, kBlockColumns> places_;  // bytes from the begin of the line
};

}  // namespace

std::shared_ptr<const Blocks> blocks_of(GstBuffer *buffer, const GstVideoInfo &info) {
  GstVideoFrame frame;
  if (!has_lumas(info) || !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return nullptr;
  auto blocks = std::make_shared<Blocks>();
  const Lumas lumas(frame);
  const Places places(lumas);
  for (size_t i = 0; i < kBlockLines; ++i)
    places.add(lumas, (2 * i + 1) * lumas.height() / (2 * kBlockLines),
               &blocks->means[i / kSide * Blocks::kColumns]);
  gst_video_frame_unmap(&frame);
  return blocks;
}

}  // namespace luminance
