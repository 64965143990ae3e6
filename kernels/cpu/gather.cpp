// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/gather.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "kernels/cpu/rows.h"
#include "kernels/error.h"

namespace cudatensor::cpu {
namespace {

/// Returns the byte offsets in a row of all bytes of the words, in order.
std::vector<int32_t> bytes_of(const std::vector<int32_t> &positions, const PixelBytes &pixel) {
  std::vector<int32_t> bytes;
  bytes.reserve(positions.size() * pixel.count);
  for (const int32_t position : positions)
    for (int k = 0; k < pixel.count; ++k) bytes.push_back(position * pixel.step + pixel.offset[k]);
  return bytes;
}

/// Returns the end of the longest run of whole words, starting at bytes[begin], whose bytes fit
/// into one window. A word has `word` bytes; the run has at least one word.
size_t window_end(const std::vector<int32_t> &bytes, size_t begin, size_t word, size_t window) {
  int32_t low = bytes[begin], high = low;
  size_t end = begin;
  while (end < bytes.size() && end + word - begin <= window) {
    const auto [first, last] = std::minmax_element(bytes.begin() + end, bytes.begin() + end + word);
    low = std::min(low, *first);
    high = std::max(high, *last);
    if (high - low >= static_cast<int32_t>(window)) break;
    end += word;
  }
  return end;
}

}  // namespace

int components_in_pixel(const FormatLayout &layout, int first, int end) {
  const Component &of = layout.component[first];
  int count = 1;
  while (first + count < end && layout.component[first + count].plane == of.plane &&
         layout.component[first + count].step == of.step)
    ++count;
  return count;
}

namespace {

/// Returns the bytes of a sample. Gather needs nothing else of a family: it uses positions and
/// steps.
int sample_bytes(SampleFamily family) {
  using F = SampleFamily;
  switch (family) {
    case F::gray:
    case F::packed_rgb3:
    case F::packed_rgb4:
    case F::planar_rgb:
    case F::planar_444:
    case F::planar_subsampled:
    case F::semiplanar:
    case F::packed_422: return 1;
    case F::deep_gray:
    case F::deep_planar:
    case F::deep_semiplanar: return 2;
  }
  throw Error(Error::Code::settings, "a pixel format of an unknown family");
}

}  // namespace

PixelBytes pixel_bytes(const FormatLayout &layout, int first, int count) {
  const int bytes = sample_bytes(layout.family);
  PixelBytes pixel = {layout.component[first].step, count == 3 ? 4 : count * bytes, {}};
  for (int k = 0; k < pixel.count; ++k) {
    const Component &component = layout.component[first + std::min(k / bytes, count - 1)];
    pixel.offset[k] = static_cast<uint8_t>(component.offset + k % bytes);
  }
  return pixel;
}

Gather::Gather(const std::vector<int32_t> &positions, int taps, PixelBytes pixel, int width)
    : row_bytes_(width * pixel.step) {
  const std::vector<int32_t> bytes = bytes_of(positions, pixel);
  words_ = bytes.size();
  const size_t word = positions.empty() ? 1 : bytes.size() / positions.size() * taps;
  for (size_t begin = 0, end; begin < bytes.size(); begin = end) {
    end = window_end(bytes, begin, word, row_kernels().window);
    add_window(bytes, begin, end);
  }
}

void Gather::add_window(const std::vector<int32_t> &bytes, size_t begin, size_t end) {
  const int window = row_kernels().window;
  const auto first = bytes.begin() + begin, last = bytes.begin() + end;
  const int32_t from = std::min(*std::min_element(first, last), std::max(row_bytes_ - window, 0));
  windows_.push_back({from, static_cast<int32_t>(begin)});
  std::transform(first, last, std::back_inserter(shuffles_),
                 [&](int32_t byte) { return static_cast<uint8_t>(byte - from); });
  shuffles_.resize(windows_.size() * window);
}

void Gather::run(const uint8_t *row, const uint8_t *ahead, uint8_t *words) const {
  const RowKernels &kernels = row_kernels();
  const auto count = static_cast<int>(windows_.size());
  if (row_bytes_ >= kernels.window)
    return kernels.gather(row, ahead, windows_.data(), shuffles_.data(), count, words);
  uint8_t narrow[Window::kMaxBytes] = {};
  std::memcpy(narrow, row, row_bytes_);
  kernels.gather(narrow, narrow, windows_.data(), shuffles_.data(), count, words);
}

}  // namespace cudatensor::cpu
