// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/thumbnail.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "capture/lumas.h"

namespace luminance {
namespace {

constexpr size_t kWidth = Thumbnail::kWidth, kHeight = Thumbnail::kHeight;
constexpr size_t kColumns = Thumbnail::kColumns, kCell = Thumbnail::kCell;
// Lines that are read for a line of the thumbnail. Sharpness is taken from one of them.
constexpr size_t kLines = 2;
// Parts of a cell's line. Edges lie in a few of them, noise in all.
constexpr size_t kParts = 4;
constexpr size_t kMinPart = 2;  // pixels

using Line = std::vector<uint8_t>;

void read(const Lumas &lumas, size_t y, Line &line) {
  const size_t step = lumas.step();
  lumas.read(y, [&](const auto &luma_at) {
    for (size_t x = 0; x < line.size(); ++x) line[x] = static_cast<uint8_t>(luma_at(x * step));
  });
}

/// Adds the means of the line's parts, of which each is a pixel of the thumbnail.
void add_means(const Line &line, uint32_t *sums) {
  for (size_t i = 0; i < kWidth; ++i) {
    const size_t begin = i * line.size() / kWidth;
    const size_t end = std::max(begin + 1, (i + 1) * line.size() / kWidth);
    uint32_t sum = 0;
    for (size_t x = begin; x < end; ++x) sum += line[x];
    sums[i] += sum * Thumbnail::kLuma / static_cast<uint32_t>(end - begin);
  }
}

uint32_t squares(const uint8_t *from, const uint8_t *to, size_t count) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const int difference = from[i] - to[i];
    sum += static_cast<uint32_t>(difference * difference);
  }
  return sum;
}

/// The sharpness of a row of cells.
class Sharpness {
 public:
  explicit Sharpness(size_t width)
      : apart_(std::max<size_t>(3, (width + 120) / 240)),
        width_(width > apart_ ? width - apart_ : 0),
        length_(width_ / (kColumns * kParts)) {}

  bool is_possible() const { return length_ >= kMinPart; }

  void add(const Line &line) {
    for (size_t cell = 0; cell < kColumns; ++cell)
      for (size_t part = 0; part < kParts; ++part) {
        const uint8_t *const begin = &line[(cell * kParts + part) * width_ / (kColumns * kParts)];
        near_[cell].push_back(squares(begin + 1, begin, length_));
        far_[cell] += squares(begin + apart_, begin, length_);
      }
  }

  Thumbnail::Detail finish(size_t cell) {
    std::vector<uint32_t> &near = near_[cell];
    const auto pixels = static_cast<float>(near.size() * length_);
    uint64_t sum = 0;
    for (const uint32_t part : near) sum += part;
    const auto middle = near.begin() + static_cast<std::ptrdiff_t>(near.size() / 2);
    std::nth_element(near.begin(), middle, near.end());
    const Thumbnail::Detail detail = {static_cast<float>(sum) / pixels,
                                      static_cast<float>(far_[cell]) / pixels,
                                      static_cast<float>(*middle) / static_cast<float>(length_)};
    near.clear();
    far_[cell] = 0;
    return detail;
  }

 private:
  const size_t apart_, width_;
  const size_t length_;  // of a part
  std::array<std::vector<uint32_t>, kColumns> near_;
  std::array<uint64_t, kColumns> far_ = {};
};

void fill(Thumbnail &thumbnail, const Lumas &lumas) {
  Sharpness sharpness(lumas.width());
  Line line(lumas.width());
  for (size_t row = 0; row < kHeight; ++row) {
    std::array<uint32_t, kWidth> sums = {};
    for (size_t i = 0; i < kLines; ++i) {
      const size_t place = 2 * (row * kLines + i) + 1;
      read(lumas, place * lumas.height() / (2 * kHeight * kLines), line);
      add_means(line, sums.data());
      if (i == 0 && sharpness.is_possible()) sharpness.add(line);
    }
    for (size_t x = 0; x < kWidth; ++x)
      thumbnail.lumas[row * kWidth + x] = static_cast<uint16_t>(sums[x] / kLines);
    if (row % kCell + 1 < kCell || !sharpness.is_possible()) continue;
    for (size_t cell = 0; cell < kColumns; ++cell)
      thumbnail.details[row / kCell * kColumns + cell] = sharpness.finish(cell);
  }
}

}  // namespace

std::shared_ptr<const Thumbnail> thumbnail_of(GstBuffer *buffer, const GstVideoInfo &info) {
  GstVideoFrame frame;
  if (!has_lumas(info) || !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return nullptr;
  auto thumbnail = std::make_shared<Thumbnail>();
  fill(*thumbnail, Lumas(frame));
  gst_video_frame_unmap(&frame);
  return thumbnail;
}

}  // namespace luminance
