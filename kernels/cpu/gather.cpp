// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gather.h"

#include <algorithm>
#include <cstring>

#include "rows.h"

namespace cudatensor::cpu {
namespace {

/// The bytes of a row that the words have, one after the other.
std::vector<int32_t> bytes_of(const std::vector<int32_t> &positions, const PixelBytes &pixel) {
  const int padded = pixel.components == 3 ? 4 : pixel.components;
  std::vector<int32_t> bytes;
  bytes.reserve(positions.size() * padded);
  for (const int32_t position : positions)
    for (int c = 0; c < padded; ++c)
      bytes.push_back(position * pixel.step + pixel.offset[std::min(c, pixel.components - 1)]);
  return bytes;
}

/// One behind the last byte whose word a window can begin with bytes[begin] and still cover: words
/// of `word` bytes, of which it holds one at least.
size_t end_of_window(const std::vector<int32_t> &bytes, size_t begin, size_t word) {
  int32_t low = bytes[begin], high = low;
  size_t end = begin;
  while (end < bytes.size() && end + word - begin <= Window::kBytes) {
    const auto [first, last] = std::minmax_element(bytes.begin() + end, bytes.begin() + end + word);
    low = std::min(low, *first);
    high = std::max(high, *last);
    if (high - low >= Window::kBytes) break;
    end += word;
  }
  return end;
}

Window make_window(const std::vector<int32_t> &bytes, size_t begin, size_t end, int row_bytes) {
  const auto first = bytes.begin() + begin, last = bytes.begin() + end;
  Window window = {};
  window.from = std::min(*std::min_element(first, last), std::max(row_bytes - Window::kBytes, 0));
  window.to = static_cast<int32_t>(begin);
  std::transform(first, last, window.shuffle,
                 [&](int32_t byte) { return static_cast<uint8_t>(byte - window.from); });
  return window;
}

}  // namespace

int components_together(const FormatLayout &layout, int first, int end) {
  int count = 1;
  while (first + count < end &&
         layout.component[first + count].plane == layout.component[first].plane)
    ++count;
  return count;
}

PixelBytes pixel_bytes(const FormatLayout &layout, int first, int count) {
  // Those beyond the count are not looked at.
  const auto offset = [&](int c) { return layout.component[std::min(first + c, 2)].offset; };
  return {layout.component[first].step, count, {offset(0), offset(1), offset(2)}};
}

Gather::Gather(const std::vector<int32_t> &positions, int taps, PixelBytes pixel, int width)
    : row_bytes_(width * pixel.step) {
  const std::vector<int32_t> bytes = bytes_of(positions, pixel);
  words_ = bytes.size();
  const size_t word = positions.empty() ? 1 : bytes.size() / positions.size() * taps;
  for (size_t begin = 0, end; begin < bytes.size(); begin = end) {
    end = end_of_window(bytes, begin, word);
    windows_.push_back(make_window(bytes, begin, end, row_bytes_));
  }
}

void Gather::run(const uint8_t *row, uint8_t *words) const {
  alignas(Window::kBytes) uint8_t narrow[Window::kBytes] = {};
  if (row_bytes_ < Window::kBytes)
    row = static_cast<uint8_t *>(std::memcpy(narrow, row, row_bytes_));
  row_kernels().gather(row, windows_.data(), static_cast<int>(windows_.size()), words);
}

}  // namespace cudatensor::cpu
