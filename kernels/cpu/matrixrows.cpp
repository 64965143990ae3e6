// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/matrixrows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cudatensor::cpu {
namespace {

/// Whether component b directly follows component a in each pixel.
bool follows(const FormatLayout &layout, int a, int b) {
  const Component &first = layout.component[a], &second = layout.component[b];
  return first.plane == second.plane && first.step == second.step &&
         second.offset == first.offset + (layout.is_deep() ? 2 : 1);
}

/// Returns the samples along an axis from a pixel to that eight rows below it, at most the length of
/// the axis. No processor foresees what turned rows read, so that their words are prefetched.
ptrdiff_t samples_ahead(const MatrixAxis &axis, bool chroma) {
  constexpr double kRows = 8;
  const double samples = std::ldexp(static_cast<double>(axis.position.b) * kRows,
                                    -32 - (chroma ? axis.chroma.shift : 0));
  const double length = axis.length;
  return std::lround(std::clamp(samples, -length, length));
}

/// Returns the group that ends with component `last` in memory.
WordGroup group_ending_with(const MatrixPlan &plan, int last) {
  const FormatLayout &layout = plan.conversion.layout;
  std::vector<int> order = {last};
  for (bool found = true; found;) {
    found = false;
    for (int c = 0; c < plan.conversion.sampled && !found; ++c)
      if (follows(layout, c, order.front())) {
        order.insert(order.begin(), c);
        found = true;
      }
  }
  const Component &first = layout.component[order.front()];
  const int count = static_cast<int>(order.size());
  const bool is_chroma = order.front() > 0;
  WordGroup group = {count,
                     {},
                     first.plane,
                     first.offset,
                     first.step,
                     count * (layout.is_deep() ? 2 : 1),
                     samples_ahead(plan.x, is_chroma),
                     samples_ahead(plan.y, is_chroma)};
  std::copy(order.begin(), order.end(), group.component);
  return group;
}

std::vector<WordGroup> groups_of(const MatrixPlan &plan) {
  const FormatLayout &layout = plan.conversion.layout;
  const int components = plan.conversion.sampled;
  std::vector<WordGroup> groups;
  for (int c = 0; c < components; ++c) {
    bool is_last = true;
    for (int other = 0; other < components; ++other)
      is_last = is_last && !follows(layout, c, other);
    if (is_last) groups.push_back(group_ending_with(plan, c));
  }
  return groups;
}

PixelRun common(const PixelRun &a, const PixelRun &b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Returns the first of n pixels for which `holds` is true, as it is for all later ones.
template <class Holds>
int first_pixel(int n, const Holds &holds) {
  int begin = 0, end = n;
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (holds(middle))
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

/// Returns those of n pixels whose positions are in [low, high).
PixelRun pixels_between(const SampleLine &line, int n, int64_t low, int64_t high) {
  const auto is_between = [&](int k) { return line.at(k) >= low && line.at(k) < high; };
  if (is_between(0) && is_between(n - 1)) return {0, n};
  const auto reaches = [&](int64_t position) {
    return first_pixel(n, [&](int k) { return line.at(k) >= position; });
  };
  const auto falls_below = [&](int64_t position) {
    return first_pixel(n, [&](int k) { return line.at(k) < position; });
  };
  return line.step >= 0 ? PixelRun{reaches(low), reaches(high)}
                        : PixelRun{falls_below(high), falls_below(low)};
}

bool is_nearest(const MatrixPlan &plan) { return plan.conversion.method == Method::nearest; }

SampleLines lines_of(const MatrixPlan &plan, int y, bool chroma) {
  const auto line = [&](const MatrixAxis &axis) -> SampleLine {
    const int64_t start = position_at(axis.position, 0, y);
    if (!chroma) return {start, axis.position.a, 0, axis.length};
    // The nearest chroma sample is that of the nearest luma sample.
    const Chroma &of = axis.chroma;
    const int64_t origin = is_nearest(plan) ? 0 : chroma_origin(of.shift, of.cosited);
    return {start - origin, axis.position.a, of.shift, axis.chroma_length};
  };
  return {line(plan.x), line(plan.y)};
}

/// Returns the pixels that may have a sample in the picture: one sample before it, the neighbor is.
PixelRun shown_of(const MatrixPlan &plan, const SampleLines &luma, int n) {
  if (plan.repeats_edge) return {0, n};
  const auto along = [n](const SampleLine &line) {
    return pixels_between(line, n, -2 * kHalfSample, line.length * 2 * kHalfSample);
  };
  return common(along(luma.x), along(luma.y));
}

/// Returns the pixels whose samples are all in the picture. The last sample has no neighbor there.
PixelRun inner_of(const MatrixPlan &plan, const SampleLines &lines, int n) {
  const int64_t before = is_nearest(plan) ? kHalfSample : 0;
  const auto along = [&](const SampleLine &line) {
    const int64_t last = ((line.length - 1) * 2 * kHalfSample) << line.shift;
    return pixels_between(line, n, -before, last - before);
  };
  return common(along(lines.x), along(lines.y));
}

bool is_subsampled(const MatrixPlan &plan, const WordGroup &group) {
  return group.component[0] > 0 && (plan.x.chroma.is_subsampled() || plan.y.chroma.is_subsampled());
}

/// Whether the offsets of all words are numbers of 32 bits.
bool fit_offsets(const std::vector<WordGroup> &groups, const ConstImage &in) {
  return std::all_of(groups.begin(), groups.end(), [&](const WordGroup &group) {
    const int64_t bytes = std::abs(in.planes[group.plane].stride) * in.desc.height +
                          int64_t{group.step} * in.desc.width;
    return bytes <= INT32_MAX;
  });
}

/// Whether words of both groups have the same offsets.
bool share_offsets(const MatrixPlan &plan, const ConstImage &in, const WordGroup &a,
                   const WordGroup &b) {
  return is_subsampled(plan, a) == is_subsampled(plan, b) && a.step == b.step &&
         in.planes[a.plane].stride == in.planes[b.plane].stride;
}

/// Returns the pairs from pixel k on.
WordPairs pairs_from(MatrixRows::Scratch &scratch, const WordGroup &group, int k) {
  const ptrdiff_t at = ptrdiff_t{2} * (group.bytes == 3 ? 4 : group.bytes) * k;
  return {scratch.above.data() + at, scratch.below.data() + at};
}

TapRow taps_from(MatrixRows::AxisTaps &taps, int k) {
  return {&taps.i0[k], &taps.i1[k], &taps.w[k], &taps.inside[k]};
}

MatrixRows::Samples make_samples(size_t width) {
  const MatrixRows::AxisTaps taps = {std::vector<int32_t>(width), std::vector<int32_t>(width),
                                     std::vector<float>(width), std::vector<float>(width)};
  return {taps, taps, std::vector<int32_t>(width)};
}

}  // namespace

/// What a row of pixels reads.
struct MatrixRows::Row {
  SampleLines luma, chroma;
  PixelRun shown;  ///< the other pixels are pad
  PixelRun inner;  ///< the pixels of `shown` whose samples are all in the picture

  PixelRun before() const { return {shown.begin, inner.begin}; }
  PixelRun after() const { return {inner.end, shown.end}; }
};

MatrixRows::MatrixRows(MatrixPlan plan)
    : plan_(std::move(plan)),
      groups_(groups_of(plan_)),
      has_chroma_(std::any_of(groups_.begin(), groups_.end(),
                              [this](const auto &group) { return is_subsampled(plan_, group); })),
      kernels_(row_kernels()),
      matrix_kernels_(matrix_kernels()) {}

MatrixRows::Scratch MatrixRows::make_scratch() const {
  Scratch scratch;
  const auto width = static_cast<size_t>(end());
  scratch.luma = scratch.chroma = make_samples(width);
  constexpr size_t kLongestPair = 8;
  scratch.above.resize(kLongestPair * width);
  scratch.below.resize(kLongestPair * width);
  for (auto &component : scratch.component) component.resize(width);
  return scratch;
}

MatrixRows::Row MatrixRows::make_row(const ConstImage &in, int y) const {
  Row row = {lines_of(plan_, y, false), {}, {}, {}};
  row.shown = shown_of(plan_, row.luma, end());
  row.inner = inner_of(plan_, row.luma, end());
  if (has_chroma_) {
    row.chroma = lines_of(plan_, y, true);
    row.inner = common(row.inner, inner_of(plan_, row.chroma, end()));
  }
  if (row.inner.is_empty() || !fit_offsets(groups_, in)) row.inner = {row.shown.end, row.shown.end};
  return row;
}

/// Finds the entries of the pixels at the edge of the picture.
void MatrixRows::find(const Row &row, Scratch &scratch) const {
  const auto find = matrix_kernels_.find[is_nearest(plan_)];
  const auto find_all = [&](const SampleLines &lines, const PixelRun &run, Samples &samples) {
    find(lines.x.from(run.begin), run.count(), taps_from(samples.x, run.begin));
    find(lines.y.from(run.begin), run.count(), taps_from(samples.y, run.begin));
  };
  for (const PixelRun &run : {row.before(), row.after()}) {
    if (run.is_empty()) continue;
    find_all(row.luma, run, scratch.luma);
    if (has_chroma_) find_all(row.chroma, run, scratch.chroma);
  }
}

void MatrixRows::place(const WordPlane &plane, const SampleLines &lines, const PixelRun &run,
                       Samples &samples) const {
  const int k = run.begin;
  matrix_kernels_.place[is_nearest(plan_)](lines.x.from(k), lines.y.from(k), plane, run.count(),
                                           &samples.offset[k], &samples.x.w[k], &samples.y.w[k]);
}

void MatrixRows::load(const WordGroup &group, const WordPlane &plane, const Row &row,
                      Samples &samples, Scratch &scratch) const {
  const int kind = group.bytes - 1;
  for (const PixelRun &run : {row.before(), row.after()})
    if (const int k = run.begin; !run.is_empty())
      matrix_kernels_.load_taps[kind](plane, taps_from(samples.x, k), taps_from(samples.y, k),
                                      run.count(), pairs_from(scratch, group, k));
  if (const int k = row.inner.begin; !row.inner.is_empty())
    matrix_kernels_.load[kind](plane, &samples.offset[k], row.inner.count(),
                               pairs_from(scratch, group, k));
}

void MatrixRows::blend(const WordGroup &group, const PixelRun &run, const Samples &samples,
                       Scratch &scratch) const {
  const int k = run.begin, n = run.count(), kind = group.count - 1;
  const float *const wx = &samples.x.w[k], *const wy = &samples.y.w[k];
  const WordPairs words = pairs_from(scratch, group, k);
  const ConversionPlan &plan = plan_.conversion;
  float *out[3];
  for (int i = 0; i < group.count; ++i) out[i] = &scratch.component[group.component[i]][k];
  if (plan.layout.is_deep())
    matrix_kernels_.blend_deep[kind](words, wx, wy, n,
                                     {plan.layout.mask(), plan.depth[group.component[0] > 0]}, out);
  else
    matrix_kernels_.blend[kind](words, wx, wy, n, out);
}

void MatrixRows::sample(const ConstImage &in, const Row &row, Scratch &scratch) const {
  const WordGroup *last = nullptr;
  for (const WordGroup &group : groups_) {
    const bool chroma = is_subsampled(plan_, group);
    Samples &samples = chroma ? scratch.chroma : scratch.luma;
    const auto &[data, stride] = in.planes[group.plane];
    const WordPlane plane = {data + group.offset, stride, group.step,
                             group.rows_ahead * stride + group.words_ahead * group.step};
    if (!row.inner.is_empty() && (last == nullptr || !share_offsets(plan_, in, *last, group)))
      place(plane, chroma ? row.chroma : row.luma, row.inner, samples);
    load(group, plane, row, samples, scratch);
    blend(group, row.shown, samples, scratch);
    last = &group;
  }
}

void MatrixRows::convert(const PixelRun &run, Scratch &scratch) const {
  const int k = run.begin;
  kernels_.convert[static_cast<int>(plan_.conversion.conversion)](
      plan_.conversion.yuv_to_rgb, run.count(), &scratch.component[0][k], &scratch.component[1][k],
      &scratch.component[2][k]);
}

/// Lays the border of the picture on the pad color, and fills what is outside with it.
void MatrixRows::pad(const Row &row, Scratch &scratch) const {
  for (int c = 0; c < plan_.conversion.produced; ++c) {
    const float pad = plan_.conversion.pad[c];
    std::vector<float> &v = scratch.component[c];
    for (const PixelRun &run : {row.before(), row.after()})
      if (const int k = run.begin; !run.is_empty())
        matrix_kernels_.blend_border(&scratch.luma.x.inside[k], &scratch.luma.y.inside[k], pad,
                                     run.count(), &v[k]);
    std::fill(v.begin(), v.begin() + row.shown.begin, pad);
    std::fill(v.begin() + row.shown.end, v.end(), pad);
  }
}

bool MatrixRows::produce(const ConstImage &in, int y, Scratch &scratch) const {
  const Row row = make_row(in, y);
  if (row.shown.is_empty()) return false;
  find(row, scratch);
  sample(in, row, scratch);
  convert(row.shown, scratch);
  if (!plan_.repeats_edge) pad(row, scratch);
  return true;
}

}  // namespace cudatensor::cpu
