// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/resample.h"

#include <algorithm>
#include <tuple>

namespace cudatensor::cpu {
namespace {

/// Returns the first run [begin, end) of columns for which `holds` is true.
template <class Holds>
std::pair<int, int> columns_where(const std::vector<Tap> &columns, const Holds &holds) {
  const auto begin = std::find_if(columns.begin(), columns.end(), holds);
  const auto end = std::find_if_not(begin, columns.end(), holds);
  return {static_cast<int>(begin - columns.begin()), static_cast<int>(end - columns.begin())};
}

}  // namespace

ResampleRows::ResampleRows(ResamplePlan plan) : plan_(std::move(plan)), kernels_(row_kernels()) {
  const std::vector<Tap> &columns = plan_.sampling.x.luma;
  std::tie(begin_, end_) = columns_where(columns, [](const Tap &tap) { return tap.inside > 0.0f; });
  std::tie(inside_, inside_end_) =
      columns_where(columns, [](const Tap &tap) { return tap.inside == 1.0f; });
  inside_ = std::min(inside_, end_);
  inside_end_ = std::max(inside_, std::min(inside_end_, end_));
  for (int c = 0; c < plan_.sampled; c += groups_.back().components)
    groups_.push_back(make_group(c, components_in_pixel(plan_.layout, c, plan_.sampled)));
}

ResampleRows::Group ResampleRows::make_group(int first, int components) const {
  const std::vector<Tap> &columns = taps_of(plan_.sampling.x, first);
  const auto begin = columns.begin() + begin_, end = columns.begin() + end_;
  const bool blends = std::any_of(begin, end, [](const Tap &tap) { return tap.w != 0.0f; });
  const FormatLayout &layout = plan_.layout;
  Group group = {first, components, {}, {}, {}, {layout.mask(), plan_.depth[first > 0 ? 1 : 0]}};
  group.upright = Upright(plan_.source, first, components, SamplesRead(columns),
                          SamplesRead(taps_of(plan_.sampling.y, first)));
  std::vector<int32_t> positions;
  for (auto tap = begin; tap != end; ++tap) {
    const int first_tap = group.upright.position_of(tap->i0);
    positions.push_back(first_tap);
    if (!blends) continue;
    positions.push_back(tap->w != 0.0f ? group.upright.position_of(tap->i1) : first_tap);
    group.weights.push_back(tap->w);
  }
  group.gather = Gather(positions, blends ? 2 : 1, group.upright.pixel(), group.upright.width());
  return group;
}

int ResampleRows::least_rows() const {
  int least = plan_.geometry.dst_height;
  for (const Group &group : groups_)
    least = std::min(least, group.upright.least_rows(plan_.geometry.dst_height));
  return least;
}

ResampleRows::Scratch ResampleRows::make_scratch() const {
  Scratch scratch;
  for (const Group &group : groups_) {
    scratch.words.emplace_back(group.gather.row_size());
    scratch.upright.push_back(group.upright.make_scratch());
  }
  for (int c = 0; c < 3; ++c) scratch.component[c].assign(width(), plan_.pad[c]);
  return scratch;
}

void ResampleRows::Scratch::begin_picture() {
  for (RowPair<uint8_t> &rows : words) rows.forget();
  for (Upright::Scratch &rows : upright) rows.begin_picture();
}

void ResampleRows::sample(const ConstImage &in, size_t index, int y, Scratch &scratch,
                          float *const *out) const {
  const Group &group = groups_[index];
  const std::vector<Tap> &lines = taps_of(plan_.sampling.y, group.first);
  const Tap &line = lines[y], &next = next_of(lines, y);
  const auto row = [&](int line, int other, int ahead) {
    return scratch.words[index].get(line, other, [&](uint8_t *words) {
      const uint8_t *const from = group.upright.row(in, line, scratch.upright[index]);
      group.gather.run(from, group.upright.ahead(in, ahead, from), words);
    });
  };
  const bool blends = line.w != 0.0f;
  const uint8_t *above = row(line.i0, line.i1, next.i0);
  const uint8_t *below = blends ? row(line.i1, line.i0, next.i1) : above;
  const int components = group.components - 1, taps = !group.weights.empty();
  if (plan_.layout.is_deep())
    kernels_.deep_sample[components][taps][blends](above, below, line.w, group.weights.data(),
                                                   end_ - begin_, group.deep, out + group.first);
  else
    kernels_.sample[components][taps][blends](above, below, line.w, group.weights.data(),
                                              end_ - begin_, out + group.first);
}

/// Blends the border with the pad value: some columns of rows inside the picture, and all columns
/// of rows on its edge.
void ResampleRows::blend_border(float inside_y, float *const *out) const {
  const auto lay = [&](int begin, int end) {
    for (int c = 0; c < plan_.produced; ++c)
      kernels_.blend_with_pad(plan_.sampling.x.luma.data() + begin, inside_y, plan_.pad[c],
                              end - begin, out[c] + (begin - begin_));
  };
  if (inside_y != 1.0f) return lay(begin_, end_);
  lay(begin_, inside_);
  lay(inside_end_, end_);
}

bool ResampleRows::produce(const ConstImage &in, int y, Scratch &scratch) const {
  const float inside_y = plan_.sampling.y.luma[y].inside;
  if (inside_y == 0.0f || begin_ == end_) return false;
  float *out[3];
  for (int c = 0; c < 3; ++c) out[c] = scratch.component[c].data() + begin_;
  for (size_t i = 0; i < groups_.size(); ++i) sample(in, i, y, scratch, out);
  kernels_.convert[static_cast<int>(plan_.conversion)](plan_.yuv_to_rgb, end_ - begin_, out[0],
                                                       out[1], out[2]);
  blend_border(inside_y, out);
  return true;
}

}  // namespace cudatensor::cpu
