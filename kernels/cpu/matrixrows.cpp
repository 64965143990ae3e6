// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/matrixrows.h"

#include <algorithm>
#include <cstring>

namespace cudatensor::cpu {
namespace {

/// Whether component b directly follows component a in each pixel.
bool follows(const FormatLayout &layout, int a, int b) {
  const Component &first = layout.component[a], &second = layout.component[b];
  return first.plane == second.plane && first.step == second.step &&
         second.offset == first.offset + (layout.is_deep() ? 2 : 1);
}

/// Returns the group that ends with component `last` in memory.
WordGroup group_ending_with(const FormatLayout &layout, int last, int components) {
  std::vector<int> order = {last};
  for (bool found = true; found;) {
    found = false;
    for (int c = 0; c < components && !found; ++c)
      if (follows(layout, c, order.front())) {
        order.insert(order.begin(), c);
        found = true;
      }
  }
  const Component &first = layout.component[order.front()];
  WordGroup group = {static_cast<int>(order.size()), {}, first.plane, first.offset, first.step, 0};
  group.bytes = group.count * (layout.is_deep() ? 2 : 1);
  std::copy(order.begin(), order.end(), group.component);
  return group;
}

std::vector<WordGroup> groups_of(const FormatLayout &layout, int components) {
  std::vector<WordGroup> groups;
  for (int c = 0; c < components; ++c) {
    bool is_last = true;
    for (int other = 0; other < components; ++other)
      is_last = is_last && !follows(layout, c, other);
    if (is_last) groups.push_back(group_ending_with(layout, c, components));
  }
  return groups;
}

/// Loads a word of this many bytes.
template <int kBytes>
uint32_t load(const uint8_t *at) {
  if constexpr (kBytes == 1) return *at;
  if constexpr (kBytes == 3) return load<2>(at) | uint32_t{at[2]} << 16;
  uint32_t word = 0;
  std::memcpy(&word, at, kBytes);
  return word;
}

/// The words of a plane, and the last of them along each axis.
struct WordPlane {
  const uint8_t *data;
  ptrdiff_t stride;
  int step, last_x, last_y;
};

/// Loads the words around n pixels. `clamps`: words outside of the picture are those of its edge.
template <int kBytes, bool clamps>
void load_corners(const WordPlane &plane, const int32_t *x, const int32_t *y, int n,
                  uint32_t *const *to) {
  for (int k = 0; k < n; ++k) {
    int left = x[k], right = left + 1, above = y[k], below = above + 1;
    if (clamps) {
      left = std::clamp(left, 0, plane.last_x);
      right = std::clamp(right, 0, plane.last_x);
      above = std::clamp(above, 0, plane.last_y);
      below = std::clamp(below, 0, plane.last_y);
    }
    const uint8_t *const upper = plane.data + plane.stride * above;
    const uint8_t *const lower = plane.data + plane.stride * below;
    const ptrdiff_t at_left = ptrdiff_t{plane.step} * left;
    const ptrdiff_t at_right = ptrdiff_t{plane.step} * right;
    to[0][k] = load<kBytes>(upper + at_left);
    to[1][k] = load<kBytes>(upper + at_right);
    to[2][k] = load<kBytes>(lower + at_left);
    to[3][k] = load<kBytes>(lower + at_right);
  }
}

using LoadCorners = void (*)(const WordPlane &plane, const int32_t *x, const int32_t *y, int n,
                             uint32_t *const *to);

LoadCorners loader_of(int bytes, bool clamps) {
  constexpr LoadCorners kLoaders[4][2] = {{load_corners<1, false>, load_corners<1, true>},
                                          {load_corners<2, false>, load_corners<2, true>},
                                          {load_corners<3, false>, load_corners<3, true>},
                                          {load_corners<4, false>, load_corners<4, true>}};
  return kLoaders[bytes - 1][clamps ? 1 : 0];
}

/// Whether the samples around both end pixels, and so around all between them, are in a picture of
/// this length.
bool are_inside(const std::vector<int32_t> &first, int32_t length) {
  const auto is_inside = [length](int32_t i) { return i >= 0 && i + 1 < length; };
  return is_inside(first.front()) && is_inside(first.back());
}

/// Finds the samples of row y along one axis. Returns whether any is in the picture.
bool find_axis(const MatrixAxis &axis, bool nearest, int y, MatrixRows::AxisSamples &luma,
               MatrixRows::AxisSamples &chroma) {
  const MatrixKernels &kernels = matrix_kernels();
  const int64_t position = position_at(axis.position, 0, y), step = axis.position.a;
  const auto n = static_cast<int>(luma.first.size());
  (nearest ? kernels.find_nearest : kernels.find)(position, step, n, axis.length, luma.first.data(),
                                                  luma.w.data(), luma.inside.data());
  luma.are_inside = are_inside(luma.first, axis.length);
  if (nearest)
    std::transform(luma.first.begin(), luma.first.end(), chroma.first.begin(), [&](int32_t i) {
      return std::clamp(i, 0, axis.length - 1) >> axis.chroma.shift;
    });
  else
    kernels.find_chroma(position, step, n, axis.chroma, chroma.first.data(), chroma.w.data());
  chroma.are_inside = are_inside(chroma.first, axis.chroma_length);
  return std::any_of(luma.inside.begin(), luma.inside.end(),
                     [](float part) { return part > 0.0f; });
}

MatrixRows::AxisSamples make_samples(size_t width) {
  return {std::vector<int32_t>(width), std::vector<float>(width), std::vector<float>(width), false};
}

}  // namespace

MatrixRows::MatrixRows(MatrixPlan plan)
    : plan_(std::move(plan)),
      groups_(groups_of(plan_.conversion.layout, plan_.conversion.sampled)),
      kernels_(row_kernels()),
      matrix_kernels_(matrix_kernels()) {}

MatrixRows::Scratch MatrixRows::make_scratch() const {
  Scratch scratch;
  const auto width = static_cast<size_t>(end());
  scratch.x = scratch.y = scratch.chroma_x = scratch.chroma_y = make_samples(width);
  for (auto &words : scratch.words) words.resize(width);
  for (auto &component : scratch.component) component.resize(width);
  return scratch;
}

bool MatrixRows::find_samples(int y, Scratch &scratch) const {
  const bool nearest = plan_.conversion.method == Method::nearest;
  const bool across = find_axis(plan_.x, nearest, y, scratch.x, scratch.chroma_x);
  const bool down = find_axis(plan_.y, nearest, y, scratch.y, scratch.chroma_y);
  return plan_.repeats_edge || (across && down);
}

void MatrixRows::sample(const ConstImage &in, const WordGroup &group, Scratch &scratch) const {
  const ConversionPlan &plan = plan_.conversion;
  const bool is_chroma = group.component[0] > 0;
  const AxisSamples &x = is_chroma ? scratch.chroma_x : scratch.x;
  const AxisSamples &y = is_chroma ? scratch.chroma_y : scratch.y;
  const auto &plane = in.planes[group.plane];
  const WordPlane words = {plane.data + group.offset, plane.stride, group.step,
                           (is_chroma ? plan_.x.chroma_length : plan_.x.length) - 1,
                           (is_chroma ? plan_.y.chroma_length : plan_.y.length) - 1};
  uint32_t *const corners[4] = {scratch.words[0].data(), scratch.words[1].data(),
                                scratch.words[2].data(), scratch.words[3].data()};
  loader_of(group.bytes, !x.are_inside || !y.are_inside)(words, x.first.data(), y.first.data(),
                                                         end(), corners);
  const CornerWords loaded = {{corners[0], corners[1], corners[2], corners[3]}};
  float *out[3];
  for (int i = 0; i < group.count; ++i) out[i] = scratch.component[group.component[i]].data();
  if (plan.layout.is_deep())
    matrix_kernels_.blend_deep[group.count - 1](loaded, x.w.data(), y.w.data(), end(),
                                                {plan.layout.mask(), plan.depth[is_chroma]}, out);
  else
    matrix_kernels_.blend[group.count - 1](loaded, x.w.data(), y.w.data(), end(), out);
}

void MatrixRows::blend_border(Scratch &scratch) const {
  if (scratch.x.are_inside && scratch.y.are_inside) return;
  for (int c = 0; c < plan_.conversion.produced; ++c)
    matrix_kernels_.blend_border(scratch.x.inside.data(), scratch.y.inside.data(),
                                 plan_.conversion.pad[c], end(), scratch.component[c].data());
}

bool MatrixRows::produce(const ConstImage &in, int y, Scratch &scratch) const {
  if (!find_samples(y, scratch)) return false;
  for (const WordGroup &group : groups_) sample(in, group, scratch);
  kernels_.convert[static_cast<int>(plan_.conversion.conversion)](
      plan_.conversion.yuv_to_rgb, end(), scratch.component[0].data(), scratch.component[1].data(),
      scratch.component[2].data());
  if (!plan_.repeats_edge) blend_border(scratch);
  return true;
}

}  // namespace cudatensor::cpu
