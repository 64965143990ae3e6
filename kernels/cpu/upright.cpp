// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/upright.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/exchange.h"

namespace cudatensor::cpu {
namespace {

/// Bytes that a block has of each row of the stored picture: two cache lines, if all are read.
constexpr int kBlockBytes = 128;
/// Bytes of a square that one step of exchange_of() transposes.
constexpr int kSquareBytes = 16;

size_t rounded_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

SamplesRead::SamplesRead(int first, int count) : samples_(count) {
  std::iota(samples_.begin(), samples_.end(), first);
}

void SamplesRead::sort() {
  std::sort(samples_.begin(), samples_.end());
  samples_.erase(std::unique(samples_.begin(), samples_.end()), samples_.end());
}

int SamplesRead::find(int sample) const {
  const auto found = std::lower_bound(samples_.begin(), samples_.end(), sample);
  return static_cast<int>(found - samples_.begin());
}

int Upright::least_rows(int rows) const {
  if (way_ != Way::transposed || lines_.count() == 0) return 1;
  return std::max<int>(1, int64_t{rows} * lines_in_block() / lines_.count());
}

Upright::Upright(const Source &source, int first, int components, SamplesRead columns,
                 SamplesRead lines)
    : layout_(layout_of(source.image.format)),
      first_(first),
      stored_pixel_(pixel_bytes(layout_, first, components)),
      pixel_(stored_pixel_),
      columns_(std::move(columns)),
      lines_(std::move(lines)) {
  const Orientation o = orientation_of(source.direction);
  const int width = component_length(layout_.chroma_shift_x, first, source.image.width);
  const int height = component_length(layout_.chroma_shift_y, first, source.image.height);
  x_ = {o.mirrored_x, o.transposed ? height : width};
  y_ = {o.mirrored_y, o.transposed ? width : height};
  width_ = width;
  if (!o.transposed && !o.mirrored_x) return;
  // Bytes without gaps between pixels keep their order, so that whole rows can be copied.
  if (stored_pixel_.step == stored_pixel_.count)
    std::iota(stored_pixel_.offset, stored_pixel_.offset + 4, uint8_t{0});
  else
    pixel_ = {stored_pixel_.count, stored_pixel_.count, {0, 1, 2, 3}};
  width_ = columns_.count();
  if (o.transposed)
    prepare_transposed(width);
  else
    prepare_mirrored(width);
}

PixelBytes Upright::pixel_of_component(int component) const {
  const PixelBytes stored = pixel_bytes(layout_, component, 1);
  if (pixel_.step == stored.step) return stored;
  const int bytes = stored.count;
  PixelBytes pixel = {pixel_.step, bytes, {}};
  for (int k = 0; k < bytes; ++k)
    pixel.offset[k] = static_cast<uint8_t>((component - first_) * bytes + k);
  return pixel;
}

void Upright::prepare_mirrored(int stored_width) {
  way_ = Way::mirrored;
  std::vector<int32_t> positions;
  for (int i = 0; i < columns_.count(); ++i) positions.push_back(x_.stored(columns_.sample(i)));
  gathers_.emplace_back(positions, 1, stored_pixel_, stored_width);
}

int Upright::lines_in_block() const { return kBlockBytes / pixel_.count; }

void Upright::prepare_transposed(int stored_width) {
  way_ = Way::transposed;
  for (int begin = 0; begin < lines_.count(); begin += lines_in_block()) {
    const int end = std::min(begin + lines_in_block(), lines_.count());
    std::vector<int32_t> positions;
    for (int i = begin; i < end; ++i) positions.push_back(y_.stored(lines_.sample(i)));
    gathers_.emplace_back(positions, 1, stored_pixel_, stored_width);
    staged_stride_ = std::max(staged_stride_, gathers_.back().row_size());
    const bool whole = end - begin == lines_in_block() &&
                       lines_.sample(end - 1) - lines_.sample(begin) == lines_in_block() - 1;
    neighbors_.push_back(whole && stored_pixel_.step == stored_pixel_.count
                             ? std::min(positions.front(), positions.back())
                             : -1);
  }
  stride_ = rounded_up(static_cast<size_t>(width_) * pixel_.count, kSquareBytes);
}

Upright::Scratch Upright::make_scratch() const {
  Scratch scratch;
  if (way_ == Way::mirrored) scratch.rows.resize(gathers_[0].row_size());
  if (way_ != Way::transposed) return scratch;
  scratch.staged.resize(staged_stride_ * (kSquareBytes / pixel_.count));
  scratch.rows.resize(stride_ * lines_in_block());
  return scratch;
}

const uint8_t *Upright::stored_row(const ConstImage &in, int y) const {
  return plane_row(in, layout_, first_, y);
}

const uint8_t *Upright::row(const ConstImage &in, int line, Scratch &scratch) const {
  if (way_ == Way::direct) return stored_row(in, y_.stored(line));
  if (way_ == Way::mirrored) {
    if (line != scratch.block) copy_line(in, line, scratch);
    return scratch.rows.data();
  }
  const int i = lines_.find(line), block = i / lines_in_block();
  if (block != scratch.block) copy_block(in, block, scratch);
  return scratch.rows.data() + stride_ * (i % lines_in_block());
}

void Upright::copy_line(const ConstImage &in, int line, Scratch &scratch) const {
  const uint8_t *const stored = stored_row(in, y_.stored(line));
  gathers_[0].run(stored, stored, scratch.rows.data());
  scratch.block = line;
}

/// Copies lines that are neighbors in the stored rows, which are transposed where they are.
void Upright::copy_neighbors(const ConstImage &in, int block, Scratch &scratch) const {
  const int side = kSquareBytes / pixel_.count, lines = lines_in_block();
  const ptrdiff_t offset = ptrdiff_t{neighbors_[block]} * pixel_.count;
  const auto stride = static_cast<ptrdiff_t>(stride_);
  for (int begin = 0; begin < width_; begin += side) {
    const uint8_t *rows[kSquareBytes];
    for (int i = 0; i < side; ++i) rows[i] = stored_column(in, begin + i) + offset;
    uint8_t *const to = scratch.rows.data() + ptrdiff_t{begin} * pixel_.count;
    exchange_of(pixel_.count)(rows, lines, y_.mirrored ? to + (lines - 1) * stride : to,
                              y_.mirrored ? -stride : stride);
  }
}

void Upright::copy_gathered(const ConstImage &in, int block, Scratch &scratch) const {
  const int side = kSquareBytes / pixel_.count;
  const int lines = std::min(lines_.count() - block * lines_in_block(), lines_in_block());
  const uint8_t *rows[kSquareBytes];
  for (int i = 0; i < side; ++i) rows[i] = scratch.staged.data() + i * staged_stride_;
  for (int begin = 0; begin < width_; begin += side) {
    for (int i = 0; i < std::min(side, width_ - begin); ++i)
      gathers_[block].run(stored_column(in, begin + i), stored_column(in, begin + i + side),
                          scratch.staged.data() + i * staged_stride_);
    exchange_of(pixel_.count)(rows, lines, scratch.rows.data() + ptrdiff_t{begin} * pixel_.count,
                              static_cast<ptrdiff_t>(stride_));
  }
}

/// Returns the stored row that is column i of those read, or the last one.
const uint8_t *Upright::stored_column(const ConstImage &in, int i) const {
  return stored_row(in, x_.stored(columns_.sample(std::min(i, width_ - 1))));
}

void Upright::copy_block(const ConstImage &in, int block, Scratch &scratch) const {
  if (neighbors_[block] >= 0)
    copy_neighbors(in, block, scratch);
  else
    copy_gathered(in, block, scratch);
  scratch.block = block;
}

}  // namespace cudatensor::cpu
