// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/matrixrows.h"

namespace cudatensor::cpu {
namespace {

/// Reads samples of one component in the scale of eight bits.
class Reader {
 public:
  Reader(const ConstImage &in, const ConversionPlan &plan, int component)
      : row_(in.row(plan.layout.component[component], 0)),
        stride_(in.planes[plan.layout.component[component].plane].stride),
        step_(plan.layout.component[component].step),
        mask_(plan.layout.mask()),
        scale_(plan.depth[component > 0 ? 1 : 0]),
        deep_(plan.layout.is_deep()) {}

  float at(int x, int y) const {
    const uint8_t *const sample = row_ + stride_ * y + ptrdiff_t{step_} * x;
    if (!deep_) return *sample;
    const uint32_t word = (sample[0] | uint32_t{sample[1]} << 8) & mask_;
    return to_eight_bits(scale_, static_cast<float>(word));
  }

  float blended(const Tap &x, const Tap &y) const {
    const float left = blend(at(x.i0, y.i0), at(x.i0, y.i1), y.w);
    const float right = blend(at(x.i1, y.i0), at(x.i1, y.i1), y.w);
    return blend(left, right, x.w);
  }

 private:
  const uint8_t *row_;
  ptrdiff_t stride_;
  int step_;
  uint32_t mask_;
  DepthScale scale_;
  bool deep_;
};

}  // namespace

MatrixRows::Scratch MatrixRows::make_scratch() const {
  Scratch scratch;
  const auto width = static_cast<size_t>(end());
  scratch.x.resize(width);
  scratch.y.resize(width);
  if (plan_.x.chroma.is_subsampled()) scratch.chroma_x.resize(width);
  if (plan_.y.chroma.is_subsampled()) scratch.chroma_y.resize(width);
  for (auto &component : scratch.component) component.resize(width);
  return scratch;
}

namespace {

/// Finds the taps of a row along one axis. Returns whether any is in the picture.
bool find_axis(const MatrixAxis &axis, bool nearest, bool repeats, int y, std::vector<Tap> &luma,
               std::vector<Tap> &chroma) {
  bool shows = false;
  for (size_t k = 0; k < luma.size(); ++k) {
    const int64_t position = position_at(axis.position, static_cast<int>(k), y);
    Tap &tap = luma[k];
    tap = nearest ? nearest_tap_at(position, axis.length) : tap_at(position, axis.length);
    if (repeats) tap.inside = 1.0f;
    shows = shows || tap.inside > 0.0f;
    if (chroma.empty()) continue;
    const int32_t sample = tap.i0 >> axis.chroma.shift;
    chroma[k] = nearest ? Tap{sample, sample, 0.0f, 1.0f}
                        : tap_at(chroma_position(position, axis.chroma.shift, axis.chroma.cosited),
                                 axis.chroma_length);
  }
  return shows;
}

}  // namespace

bool MatrixRows::find_taps(int y, Scratch &scratch) const {
  const bool nearest = plan_.conversion.method == Method::nearest;
  const bool repeats = plan_.repeats_edge;
  const bool across = find_axis(plan_.x, nearest, repeats, y, scratch.x, scratch.chroma_x);
  const bool down = find_axis(plan_.y, nearest, repeats, y, scratch.y, scratch.chroma_y);
  return across && down;
}

void MatrixRows::sample(const ConstImage &in, int c, Scratch &scratch) const {
  const Reader reader(in, plan_.conversion, c);
  const std::vector<Tap> &x = c > 0 && !scratch.chroma_x.empty() ? scratch.chroma_x : scratch.x;
  const std::vector<Tap> &y = c > 0 && !scratch.chroma_y.empty() ? scratch.chroma_y : scratch.y;
  float *const out = scratch.component[c].data();
  for (size_t k = 0; k < x.size(); ++k) out[k] = reader.blended(x[k], y[k]);
}

void MatrixRows::blend_border(Scratch &scratch) const {
  for (int c = 0; c < plan_.conversion.produced; ++c) {
    float *const v = scratch.component[c].data();
    const float pad = plan_.conversion.pad[c];
    for (size_t k = 0; k < scratch.x.size(); ++k)
      v[k] = blend_with_pad(v[k], scratch.x[k].inside * scratch.y[k].inside, pad);
  }
}

bool MatrixRows::produce(const ConstImage &in, int y, Scratch &scratch) const {
  if (!find_taps(y, scratch)) return false;
  for (int c = 0; c < plan_.conversion.sampled; ++c) sample(in, c, scratch);
  kernels_.convert[static_cast<int>(plan_.conversion.conversion)](
      plan_.conversion.yuv_to_rgb, end(), scratch.component[0].data(), scratch.component[1].data(),
      scratch.component[2].data());
  if (!plan_.repeats_edge) blend_border(scratch);
  return true;
}

}  // namespace cudatensor::cpu
