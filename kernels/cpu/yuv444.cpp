// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/yuv444.h"

#include <algorithm>

#include "kernels/cpu/operations.h"

namespace cudatensor::cpu {
namespace {

bool picks(const std::vector<FixedTap> &taps) {
  return std::all_of(taps.begin(), taps.end(), [](const FixedTap &tap) { return tap.w == 0; });
}

}  // namespace

Yuv444Rows::Yuv444Rows(Yuv444Plan plan) : plan_(std::move(plan)), kernels_(row_kernels()) {
  for (int c = 0; c < 3; c += groups_.back().components)
    groups_.push_back(make_group(c, components_in_pixel(plan_.layout, c, 3)));
}

Yuv444Rows::Group Yuv444Rows::make_group(int first, int components) const {
  const std::vector<FixedTap> &columns = taps_of(plan_.x, first);
  const std::vector<FixedTap> &lines = taps_of(plan_.y, first);
  Group group = {first, components, {}, {}, {}, picks(columns) && picks(lines)};
  group.upright =
      Upright(plan_.source, first, components, SamplesRead(columns), SamplesRead(lines));
  std::vector<int32_t> positions;
  for (const FixedTap &tap : columns) {
    const int first_tap = group.upright.position_of(tap.i0);
    positions.push_back(first_tap);
    if (group.picks) continue;
    positions.push_back(tap.w != 0 ? group.upright.position_of(tap.i1) : first_tap);
    group.weights.push_back(tap.w);
  }
  group.gather =
      Gather(positions, group.picks ? 1 : 2, group.upright.pixel(), group.upright.width());
  return group;
}

int Yuv444Rows::least_rows() const {
  int least = plan_.height;
  for (const Group &group : groups_)
    least = std::min(least, group.upright.least_rows(plan_.height));
  return least;
}

Yuv444Rows::Scratch Yuv444Rows::make_scratch() const {
  Scratch scratch;
  size_t words = 0;
  for (const Group &group : groups_) {
    scratch.resized.emplace_back(static_cast<size_t>(group.components) * plan_.width);
    scratch.upright.push_back(group.upright.make_scratch());
    words = std::max(words, group.gather.row_size());
  }
  scratch.words.resize(words);
  return scratch;
}

void Yuv444Rows::Scratch::begin_picture() {
  for (RowPair<int32_t> &rows : resized) rows.forget();
  for (Upright::Scratch &rows : upright) rows.begin_picture();
}

/// Gathers a line of the source to scratch.words.
void Yuv444Rows::gather(const ConstImage &in, size_t index, int line, int ahead,
                        Scratch &scratch) const {
  const Upright &upright = groups_[index].upright;
  const uint8_t *const row = upright.row(in, line, scratch.upright[index]);
  groups_[index].gather.run(row, upright.ahead(in, ahead, row), scratch.words.data());
}

void Yuv444Rows::blend(const ConstImage &in, size_t index, int y, Scratch &scratch,
                       uint8_t *const *out) const {
  const Group &group = groups_[index];
  const std::vector<FixedTap> &lines = taps_of(plan_.y, group.first);
  const FixedTap &line = lines[y], &next = next_of(lines, y);
  const auto resized = [&](int from, int other, int ahead) {
    return scratch.resized[index].get(from, other, [&](int32_t *values) {
      gather(in, index, from, ahead, scratch);
      kernels_.fixed_horizontal[group.components - 1](scratch.words.data(), group.weights.data(),
                                                      plan_.width, values);
    });
  };
  const int32_t *v0 = resized(line.i0, line.i1, next.i0);
  const int32_t *v1 = line.w != 0 ? resized(line.i1, line.i0, next.i1) : v0;
  for (ptrdiff_t c = 0; c < group.components; ++c)
    kernels_.fixed_vertical(v0 + c * plan_.width, v1 + c * plan_.width, line.w, plan_.width,
                            out[c]);
}

void Yuv444Rows::pick(const ConstImage &in, size_t index, int y, Scratch &scratch,
                      uint8_t *const *out) const {
  const Group &group = groups_[index];
  const std::vector<FixedTap> &lines = taps_of(plan_.y, group.first);
  gather(in, index, lines[y].i0, next_of(lines, y).i0, scratch);
  kernels_.split[group.components - 1](scratch.words.data(), plan_.width, out);
}

void Yuv444Rows::produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const {
  for (size_t i = 0; i < groups_.size(); ++i) {
    uint8_t *const *const rows = out + groups_[i].first;
    if (groups_[i].picks)
      pick(in, i, y, scratch, rows);
    else
      blend(in, i, y, scratch, rows);
  }
}

namespace {

class Yuv444 final : public ImageToImage {
 public:
  Yuv444(const Yuv444Params &params, const Yuv444Plan &plan, Workers &workers)
      : ImageToImage(params.in, params.out, plan.geometry),
        rows_(plan),
        layout_(layout_of(params.out.format)),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i) scratch_.push_back(rows_.make_scratch());
  }

 private:
  void execute(const ConstImage &in, const Image &out, Stream) override {
    workers_.for_rows(out.desc.height, [&](int64_t begin, int64_t end, int slot) {
      scratch_[slot].begin_picture();
      for (int y = static_cast<int>(begin); y < end; ++y) {
        uint8_t *rows[3];
        for (int c = 0; c < 3; ++c) rows[c] = out.row(layout_.component[c], y);
        rows_.produce(in, y, scratch_[slot], rows);
      }
    });
  }

  Yuv444Rows rows_;
  FormatLayout layout_;
  Workers &workers_;
  std::vector<Yuv444Rows::Scratch> scratch_;
};

}  // namespace

std::unique_ptr<ImageToImage> make(const Yuv444Params &params, Workers &workers) {
  return std::make_unique<Yuv444>(params, make_yuv444_plan(params), workers);
}

}  // namespace cudatensor::cpu
