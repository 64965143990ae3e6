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
    case Way::split: readers_.push_back(make_reader(0, first, width())); break;
    case Way::copy:
      for (int c = 0; c < plan_.produced; ++c)
        readers_.push_back(make_reader(std::min(c, plan_.sampled - 1), first, width()));
      break;
    case Way::chroma:
      readers_.push_back(make_reader(0, first, width()));
      for (const int c : {1, 2}) readers_.push_back(make_reader(c, low_, high_ - low_ + 1));
      break;
  }
}

/// Whether rows of the source lie in memory as they are seen.
bool PixelRows::is_direct() const {
  const Orientation o = orientation_of(plan_.source.direction);
  return !o.transposed && !o.mirrored_x;
}

PixelRows::Way PixelRows::choose_way() const {
  const SamplingPlan &sampling = plan_.sampling;
  if (plan_.layout.is_deep() || !are_samples(sampling.x.luma) || !are_samples(sampling.y.luma) ||
      !are_neighbors(sampling.x.luma))
    return Way::general;
  switch (plan_.conversion) {
    case Conversion::keep:
      if (is_packed_rgb(plan_.layout.family)) return Way::split;
      [[fallthrough]];
    case Conversion::gray_to_rgb:
      return sampling.x.chroma.empty() && sampling.y.chroma.empty() ? Way::copy : Way::general;
    case Conversion::yuv_to_rgb:
      return plan_.chroma.x.shift != 1 || sampling.x.chroma.empty() ? Way::general : Way::chroma;
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
  const Chroma chroma = plan_.chroma.x;
  const uint16_t weights[3][4] = {{1, 3, 3, 1}, {0, 4, 2, 2}, {2, 2, 4, 0}};
  std::copy_n(weights[!chroma.cosited ? 0 : chroma.mirrored ? 2 : 1], 4, weights_);
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

/// Returns the place in planes_ of the plane that has a component; adds it with its first component.
size_t PixelRows::plane_of(int component, int first, int count) {
  int of = 0, components = 0;
  size_t plane = 0;
  for (;; ++plane, of += components) {
    components = components_in_pixel(plan_.layout, of, plan_.sampled);
    if (component < of + components) break;
  }
  if (plane == planes_.size())
    planes_.emplace_back(plan_.source, of, components, SamplesRead(first, count),
                         SamplesRead(taps_of(plan_.sampling.y, of)));
  return plane;
}

PixelRows::Reader PixelRows::make_reader(int component, int first, int count) {
  Reader reader = {plane_of(component, first, count), first, count, false, {}};
  const Upright &plane = planes_[reader.plane];
  const PixelBytes pixel = plane.pixel_of_component(component);
  reader.copies = pixel.step == 1;
  if (reader.copies) return reader;
  std::vector<int32_t> positions(count);
  std::iota(positions.begin(), positions.end(), plane.position_of(first));
  reader.gather = Gather(positions, 1, pixel, plane.width());
  return reader;
}

void PixelRows::read(const ConstImage &in, size_t index, int line, int ahead, Scratch &scratch,
                     uint8_t *out) const {
  const Reader &reader = readers_[index];
  const Upright &plane = planes_[reader.plane];
  const uint8_t *const from = plane.row(in, line, scratch.upright[reader.plane]);
  if (reader.copies)
    std::copy_n(from + plane.position_of(reader.first), reader.count, out);
  else
    reader.gather.run(from, plane.ahead(in, ahead, from), out);
}

/// Splits the pixels of a packed row.
void PixelRows::split(const ConstImage &in, int line, Scratch &scratch, uint8_t *const *out) const {
  const Upright &plane = planes_[0];
  uint8_t *by_offset[4] = {};
  for (int c = 0; c < 3; ++c) by_offset[plane.pixel_of_component(c).offset[0]] = out[c];
  const int step = plane.pixel().step;
  const uint8_t *const row = plane.row(in, line, scratch.upright[0]) +
                             ptrdiff_t{step} * plane.position_of(readers_[0].first);
  (step == 3 ? pixel_kernels().split3 : pixel_kernels().split4)(row, width(), by_offset);
}

int PixelRows::least_rows() const {
  if (way_ == Way::general) return general_[0].least_rows();
  const int height = plan_.geometry.dst_height;
  int least = height;
  for (const Upright &plane : planes_) least = std::min(least, plane.least_rows(height));
  return least;
}

PixelRows::Scratch PixelRows::make_scratch() const {
  Scratch scratch;
  if (way_ == Way::general) scratch.general.push_back(general_[0].make_scratch());
  for (const Upright &plane : planes_) scratch.upright.push_back(plane.make_scratch());
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
  for (Upright::Scratch &rows : upright) rows.begin_picture();
}

void PixelRows::produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const {
  const std::vector<Tap> &lines = plan_.sampling.y.luma;
  switch (way_) {
    case Way::copy:
      for (int c = 0; c < plan_.produced; ++c)
        read(in, c, lines[y].i0, next_of(lines, y).i0, scratch, out[c]);
      break;
    case Way::split: split(in, lines[y].i0, scratch, out); break;
    case Way::chroma: convert_chroma(in, y, scratch, out); break;
    case Way::general:
      general_[0].produce(in, y, scratch.general[0]);
      for (int c = 0; c < plan_.produced; ++c)
        row_kernels().narrow(scratch.general[0].component[c].data(), width(), out[c]);
      break;
  }
}

Ahead PixelRows::ahead(const ConstImage &in, int y) const {
  if (!is_direct()) return {};
  const std::vector<Tap> &lines = plan_.sampling.y.luma;
  const int step = plan_.layout.component[0].step, last = static_cast<int>(lines.size()) - 1;
  const bool mirrored = orientation_of(plan_.source.direction).mirrored_y;
  const auto row = [&](int i) {
    const int line = lines[std::min(i, last)].i0;
    const int stored = mirrored ? plan_.source.image.height - 1 - line : line;
    return plane_row(in, plan_.layout, 0, stored) + ptrdiff_t{step} * plan_.sampling.x.luma[0].i0;
  };
  return {{row(y), row(y + 1)}, y > last ? 0 : step * width()};
}

/// Returns U or V of each pixel of a row, in units of 1 / 16.
const uint16_t *PixelRows::chroma_row(const ConstImage &in, int y, int c, Scratch &scratch) const {
  const std::vector<Tap> &lines = taps_of(plan_.sampling.y, 1);
  const Tap &line = lines[y], &next = next_of(lines, y);
  const auto row = [&](int index, int other, int ahead) {
    return scratch.chroma[c].get(index, other,
                                 [&](uint8_t *to) { read(in, 1 + c, index, ahead, scratch, to); });
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
  read(in, 0, lines[y].i0, next_of(lines, y).i0, scratch, scratch.luma.data());
  const uint16_t *const u = chroma_row(in, y, 0, scratch);
  const uint16_t *const v = chroma_row(in, y, 1, scratch);
  pixel_kernels().yuv_to_rgb(plan_.yuv_to_rgb, scratch.luma.data(), u, v, width(), out);
}

}  // namespace cudatensor::cpu
