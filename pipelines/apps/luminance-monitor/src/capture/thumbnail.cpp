// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/thumbnail.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
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

/// The judged part of a line of the frame.
struct Line {
  explicit Line(size_t width) : lumas(width), masked_before(width + 1) {}

  size_t width() const { return lumas.size(); }
  bool is_masked(size_t begin, size_t end) const {
    return masked_before[end] > masked_before[begin];
  }

  std::vector<uint8_t> lumas;
  std::vector<uint32_t> masked_before;  // number of masked pixels before each pixel
};

void read(const Lumas &lumas, size_t y, const Cutout<size_t> &pixels, Line &line) {
  const size_t step = lumas.step(), left = pixels.frame.left;
  lumas.read(y, [&](const auto &luma_at) {
    for (size_t x = 0; x < line.width(); ++x)
      line.lumas[x] = static_cast<uint8_t>(luma_at((left + x) * step));
  });
  if (pixels.holes.empty()) return;
  std::fill(line.masked_before.begin(), line.masked_before.end(), 0);
  for (const Box<size_t> &hole : pixels.holes)
    if (y >= hole.top && y < hole.bottom)
      for (size_t x = hole.left; x < hole.right; ++x) line.masked_before[x - left + 1] = 1;
  std::partial_sum(line.masked_before.begin(), line.masked_before.end(),
                   line.masked_before.begin());
}

/// A pixel of the thumbnail: the sum of the means of its parts of lines.
struct Pixel {
  uint32_t sum = 0;
  bool is_masked = false;  // in any part
};

/// Adds the means of the line's parts.
void add_means(const Line &line, std::array<Pixel, kWidth> &pixels) {
  for (size_t i = 0; i < kWidth; ++i) {
    const size_t begin = i * line.width() / kWidth;
    const size_t end = std::max(begin + 1, (i + 1) * line.width() / kWidth);
    uint32_t sum = 0;
    for (size_t x = begin; x < end; ++x) sum += line.lumas[x];
    pixels[i].sum += sum * Thumbnail::kLuma / static_cast<uint32_t>(end - begin);
    pixels[i].is_masked |= line.is_masked(begin, end);
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
        const size_t place = (cell * kParts + part) * width_ / (kColumns * kParts);
        if (line.is_masked(place, place + length_ + apart_)) continue;
        const uint8_t *const begin = &line.lumas[place];
        near_[cell].push_back(squares(begin + 1, begin, length_));
        far_[cell] += squares(begin + apart_, begin, length_);
      }
  }

  Thumbnail::Detail finish(size_t cell) {
    std::vector<uint32_t> &near = near_[cell];
    if (near.empty()) return {};  // masked
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

/// Sets a row of the thumbnail. Masked pixels stay 0.
void fill(Thumbnail &thumbnail, size_t row, const std::array<Pixel, kWidth> &pixels) {
  for (size_t x = 0; x < kWidth; ++x)
    if (pixels[x].is_masked)
      thumbnail.masked.set(row * kWidth + x);
    else
      thumbnail.lumas[row * kWidth + x] = static_cast<uint16_t>(pixels[x].sum / kLines);
}

void fill(Thumbnail &thumbnail, const Lumas &lumas, const Cutout<size_t> &judged) {
  const Box<size_t> &frame = judged.frame;
  const size_t width = frame.right - frame.left, height = frame.bottom - frame.top;
  Sharpness sharpness(width);
  Line line(width);
  for (size_t row = 0; row < kHeight; ++row) {
    std::array<Pixel, kWidth> pixels = {};
    for (size_t i = 0; i < kLines; ++i) {
      const size_t place = 2 * (row * kLines + i) + 1;
      read(lumas, frame.top + place * height / (2 * kHeight * kLines), judged, line);
      add_means(line, pixels);
      if (i == 0 && sharpness.is_possible()) sharpness.add(line);
    }
    fill(thumbnail, row, pixels);
    if (row % kCell + 1 < kCell || !sharpness.is_possible()) continue;
    for (size_t cell = 0; cell < kColumns; ++cell)
      thumbnail.details[row / kCell * kColumns + cell] = sharpness.finish(cell);
  }
}

}  // namespace

std::shared_ptr<const Thumbnail> thumbnail_of(GstBuffer *buffer, const GstVideoInfo &info,
                                              const Cutout<size_t> &pixels) {
  GstVideoFrame frame;
  if (pixels.frame.is_empty() || !has_lumas(info) ||
      !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ))
    return nullptr;
  auto thumbnail = std::make_shared<Thumbnail>();
  fill(*thumbnail, Lumas(frame), pixels);
  gst_video_frame_unmap(&frame);
  return thumbnail;
}

}  // namespace luminance
