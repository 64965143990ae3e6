// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/pixelrows.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/pixelkernels.h"

namespace cudatensor::cpu {
namespace {

bool are_samples(const std::vector<Tap> &taps) {
  return std::all_of(taps.begin(), taps.end(),
                     [](const Tap &tap) { return tap.w == 0.0f && tap.inside == 1.0f; });
}

bool are_neighbors(const std::vector<Tap> &taps) {
  for (size_t i = 1; i < taps.size(); ++i)
    if (taps[i].i0 != taps[0].i0 + static_cast<int>(i)) return false;
  return true;
}

bool is_quarter(float w) { return w * 4.0f == static_cast<float>(static_cast<int>(w * 4.0f)); }

/// Offset of a part of a row in its buffer, which leaves room for sample -1.
constexpr size_t kBefore = 1;

}  // namespace

PixelRows::PixelRows(const ResamplePlan &plan) : plan_(plan), way_(choose_way()) {
  if (way_ == Way::chroma && !find_chroma()) way_ = Way::general;
  const int first = plan_.sampling.x.luma.empty() ? 0 : plan_.sampling.x.luma[0].i0;
  switch (way_) {
    case Way::general: general_.emplace_back(plan_); break;
    case Way::copy:
    case Way::split:
      for (int c = 0; c < plan_.produced; ++c)
        readers_.push_back(make_reader(std::min(c, plan_.sampled - 1), first, width()));
      break;
    case Way::chroma:
      readers_.push_back(make_reader(0, first, width()));
      for (const int c : {1, 2}) readers_.push_back(make_reader(c, low_, high_ - low_ + 1));
      break;
  }
}

PixelRows::Way PixelRows::choose_way() const {
  const SamplingPlan &sampling = plan_.sampling;
  if (plan_.layout.is_deep() || !are_samples(sampling.x.luma) || !are_samples(sampling.y.luma) ||
      !are_neighbors(sampling.x.luma))
    return Way::general;
  switch (plan_.conversion) {
    case Conversion::keep:
      if (plan_.layout.family == SampleFamily::packed_rgb3) return Way::split;
      [[fallthrough]];
    case Conversion::gray_to_rgb:
      return sampling.x.chroma.empty() && sampling.y.chroma.empty() ? Way::copy : Way::general;
    case Conversion::yuv_to_rgb:
      return plan_.layout.chroma_shift_x != 1 || sampling.x.chroma.empty() ? Way::general
                                                                           : Way::chroma;
    default: return Way::general;
  }
}

/// Whether all weights of chroma are quarters, the same for every second pixel. Sets the members
/// that convert_chroma() needs.
bool PixelRows::find_chroma() {
  const AxisPlan &x = plan_.sampling.x;
  for (const Tap &tap : plan_.sampling.y.chroma)
    if (!is_quarter(tap.w)) return false;
  const auto by_i0 = [](const Tap &a, const Tap &b) { return a.i0 < b.i0; };
  const auto by_i1 = [](const Tap &a, const Tap &b) { return a.i1 < b.i1; };
  low_ = std::min_element(x.chroma.begin(), x.chroma.end(), by_i0)->i0;
  high_ = std::max_element(x.chroma.begin(), x.chroma.end(), by_i1)->i1;
  begin_ = x.luma.front().i0 / 2;
  end_ = x.luma.back().i0 / 2 + 1;
  if (low_ < begin_ - 1 || high_ > end_) return false;
  const bool cosited = plan_.source.cosited_x;
  const uint16_t weights[2][4] = {{1, 3, 3, 1}, {0, 4, 2, 2}};
  std::copy_n(weights[cosited ? 1 : 0], 4, weights_);
  for (int i = 0; i < width(); ++i)
    if (!doubles(i)) return false;
  return true;
}

/// Whether double_chroma() computes the chroma of pixel x.
bool PixelRows::doubles(int x) const {
  const Tap &tap = plan_.sampling.x.chroma[x];
  const int column = plan_.sampling.x.luma[x].i0, odd = column & 1;
  const int first = std::clamp(column / 2 - 1 + odd, low_, high_);
  const int second = std::clamp(column / 2 + odd, low_, high_);
  if (!is_quarter(tap.w)) return false;
  const int w = static_cast<int>(tap.w * 4.0f);
  for (const int i : {first, second, tap.i0, tap.i1}) {
    const int expected = (tap.i0 == i ? 4 - w : 0) + (tap.i1 == i ? w : 0);
    const int given =
        (first == i ? weights_[2 * odd] : 0) + (second == i ? weights_[2 * odd + 1] : 0);
    if (expected != given) return false;
  }
  return true;
}

PixelRows::Reader PixelRows::make_reader(int component, int first, int count) const {
  const PixelBytes pixel = pixel_bytes(plan_.layout, component, 1);
  if (pixel.step == 1) return {component, count, first, {}};
  std::vector<int32_t> positions(count);
  std::iota(positions.begin(), positions.end(), first);
  const int width =
      component_length(plan_.layout.chroma_shift_x, component, plan_.source.image.width);
  return {component, 0, first, Gather(positions, 1, pixel, width)};
}

void PixelRows::read(const Reader &reader, const ConstImage &in, int row, int ahead,
                     uint8_t *out) const {
  const uint8_t *const from = plane_row(in, plan_.layout, reader.component, row);
  if (reader.bytes > 0)
    std::copy_n(from + reader.first, reader.bytes, out);
  else
    reader.gather.run(from, plane_row(in, plan_.layout, reader.component, ahead), out);
}

PixelRows::Scratch PixelRows::make_scratch() const {
  Scratch scratch;
  if (way_ == Way::general) scratch.general.push_back(general_[0].make_scratch());
  if (way_ != Way::chroma) return scratch;
  const size_t samples = end_ - begin_ + 2 * kBefore;
  scratch.luma.resize(width() + kFilterSlack);
  for (int c = 0; c < 2; ++c) {
    scratch.chroma.emplace_back(samples + kFilterSlack);
    scratch.horizontal[c].resize(2 * samples);
  }
  scratch.blended.resize(samples);
  return scratch;
}

void PixelRows::Scratch::begin_picture() {
  for (ResampleRows::Scratch &rows : general) rows.begin_picture();
  for (RowPair<uint8_t> &rows : chroma) rows.forget();
}

void PixelRows::produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const {
  const std::vector<Tap> &lines = plan_.sampling.y.luma;
  switch (way_) {
    case Way::copy:
      for (int c = 0; c < plan_.produced; ++c)
        read(readers_[c], in, lines[y].i0, next_of(lines, y).i0, out[c]);
      break;
    case Way::split: {
      uint8_t *by_offset[3];
      for (int c = 0; c < 3; ++c) by_offset[plan_.layout.component[c].offset] = out[c];
      const int first = readers_[0].first;
      pixel_kernels().split(plane_row(in, plan_.layout, 0, lines[y].i0) + ptrdiff_t{3} * first,
                            width(), by_offset);
      break;
    }
    case Way::chroma: convert_chroma(in, y, scratch, out); break;
    case Way::general:
      general_[0].produce(in, y, scratch.general[0]);
      for (int c = 0; c < plan_.produced; ++c)
        row_kernels().narrow(scratch.general[0].component[c].data(), width(), out[c]);
      break;
  }
}

Ahead PixelRows::ahead(const ConstImage &in, int y) const {
  const std::vector<Tap> &lines = plan_.sampling.y.luma;
  const int step = plan_.layout.component[0].step, last = static_cast<int>(lines.size()) - 1;
  const auto row = [&](int i) {
    return plane_row(in, plan_.layout, 0, lines[std::min(i, last)].i0) +
           ptrdiff_t{step} * plan_.sampling.x.luma[0].i0;
  };
  return {{row(y), row(y + 1)}, y > last ? 0 : step * width()};
}

/// Returns U or V of each pixel of a row, in units of 1 / 16.
const uint16_t *PixelRows::chroma_row(const ConstImage &in, int y, int c, Scratch &scratch) const {
  const std::vector<Tap> &lines = taps_of(plan_.sampling.y, 1);
  const Tap &line = lines[y], &next = next_of(lines, y);
  const auto row = [&](int index, int other, int ahead) {
    return scratch.chroma[c].get(index, other,
                                 [&](uint8_t *to) { read(readers_[1 + c], in, index, ahead, to); });
  };
  const bool blends = line.w != 0.0f;
  const uint8_t *const above = row(line.i0, line.i1, next.i0);
  const uint8_t *const below = blends ? row(line.i1, line.i0, next.i1) : above;
  uint16_t *const samples = scratch.blended.data() + kBefore;
  uint16_t *const known = samples + (low_ - begin_);
  const int count = high_ - low_ + 1;
  pixel_kernels().blend_chroma(above, below, static_cast<int>(line.w * 4.0f), count, known);
  std::fill(scratch.blended.data(), known, known[0]);
  std::fill(known + count, scratch.blended.data() + scratch.blended.size(), known[count - 1]);
  pixel_kernels().double_chroma(samples, weights_, end_ - begin_, scratch.horizontal[c].data());
  return scratch.horizontal[c].data() + (plan_.sampling.x.luma[0].i0 & 1);
}

void PixelRows::convert_chroma(const ConstImage &in, int y, Scratch &scratch,
                               uint8_t *const *out) const {
  const std::vector<Tap> &lines = plan_.sampling.y.luma;
  read(readers_[0], in, lines[y].i0, next_of(lines, y).i0, scratch.luma.data());
  const uint16_t *const u = chroma_row(in, y, 0, scratch);
  const uint16_t *const v = chroma_row(in, y, 1, scratch);
  pixel_kernels().yuv_to_rgb(plan_.yuv_to_rgb, scratch.luma.data(), u, v, width(), out);
}

}  // namespace cudatensor::cpu
