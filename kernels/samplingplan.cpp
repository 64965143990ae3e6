// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/samplingplan.h"

#include <algorithm>
#include <cmath>

namespace cudatensor {
namespace {

/// The samples touched by an interval of an axis.
struct Samples {
  int64_t first, last;
  double rest;  // distance from the start of the first sample to the start of the interval
};

Samples samples_in(Extent part) {
  const double first = std::floor(part.begin);
  const double end = std::max(std::ceil(part.begin + part.length), first + 1.0);
  return {static_cast<int64_t>(first), static_cast<int64_t>(end) - 1, part.begin - first};
}

/// One axis of a geometry.
struct Axis {
  int src, dst;
  Extent region;
  Samples samples;      // the samples that the region touches
  int offset, content;  // stretch: the resized picture's place in the output
  double step;          // source pixels per output pixel with affine, otherwise 0

  bool is_picture(double i) const { return i >= 0.0 && i < src; }
  bool is_region(double i) const {
    return i >= static_cast<double>(samples.first) && i <= static_cast<double>(samples.last);
  }
  double limit_to_region(double i) const {
    return std::clamp(i, static_cast<double>(samples.first), static_cast<double>(samples.last));
  }
  /// Whether output coordinate `k` shows part of the region.
  bool shows(int k) const { return step > 0.0 || (k >= offset && k < offset + content); }
};

Tap pad_tap() { return {0, 0, 0.0f, 0.0f}; }

/// Returns the source position of output coordinate `k`, relative to the start of the region, in
/// samples.
double position(const Axis &axis, int k) {
  if (axis.step > 0.0)
    return (k + 0.5 - axis.dst / 2.0) * axis.step + axis.region.length / 2.0 - 0.5;
  return (k - axis.offset + 0.5) * (axis.region.length / axis.content) - 0.5;
}

/// Two neighboring samples and the weight of the second.
struct Neighbours {
  double i0, w;
};

/// Returns the neighbors of position `f`. `first` is added last, so that rounding is the same for a
/// picture and for a region of it.
Neighbours neighbours(double f, int64_t first) {
  const double floor = std::floor(f);
  return {floor + static_cast<double>(first), f - floor};
}

/// Returns the fraction of the weight inside the region. Outside its edges a stretched region
/// repeats the edge samples; an affine one blends with the pad value.
double inside_weight(const Axis &axis, Neighbours n) {
  const auto counts = [&](double i) {
    return axis.step > 0.0 ? axis.is_region(i) && axis.is_picture(i)
                           : axis.is_picture(axis.limit_to_region(i));
  };
  const bool first = counts(n.i0), second = counts(n.i0 + 1.0);
  if (first && second) return 1.0;
  return first ? 1.0 - n.w : second ? n.w : 0.0;
}

Tap bilinear_tap(Neighbours n, int64_t first, int64_t last, int length, double inside) {
  const auto clamped = [&](double i) {
    return static_cast<int32_t>(
        std::clamp(i, static_cast<double>(std::max<int64_t>(first, 0)),
                   static_cast<double>(std::min<int64_t>(last, length - 1))));
  };
  return {clamped(n.i0), clamped(n.i0 + 1.0), static_cast<float>(n.w), static_cast<float>(inside)};
}

/// The chroma samples of an axis. Each covers 2^shift luma samples. The stored axis starts with a
/// whole chroma sample, so that a mirrored one may start with a part of one.
struct ChromaGrid {
  Chroma chroma;
  int64_t cut;  // luma samples that the first chroma sample lacks

  ChromaGrid(Chroma of, int length)
      : chroma(of),
        cut(of.mirrored ? (int64_t{component_length(of.shift, 1, length)} << of.shift) - length
                        : 0) {}

  int64_t sample_of(int64_t luma) const { return (luma + cut) >> chroma.shift; }
  /// Returns the first luma sample of a chroma sample; below 0 if the picture lacks it.
  int64_t luma_of(int64_t sample) const { return sample * (int64_t{1} << chroma.shift) - cut; }

  /// Returns the chroma position of `f` + `before` luma samples from the start of a chroma sample.
  double position(double f, double before) const {
    const double samples = 1 << chroma.shift;
    if (!chroma.mirrored)
      return chroma.cosited ? (f + before) / samples : (f + before + 0.5) / samples - 0.5;
    const double last = samples - 1.0;
    return (f + (before - (chroma.cosited ? last : last / 2.0))) / samples;
  }
};

/// Makes a chroma entry. Chroma positions are relative to a whole chroma sample.
Tap bilinear_chroma_tap(const Axis &axis, Chroma chroma, double f, double inside) {
  const Samples &s = axis.samples;
  const ChromaGrid grid(chroma, axis.src);
  const int64_t first = grid.sample_of(s.first), last = grid.sample_of(s.last);
  const auto before = static_cast<double>(s.first - grid.luma_of(first));
  const Neighbours n = neighbours(grid.position(f, s.rest + before), first);
  return bilinear_tap(n, first, last, component_length(chroma.shift, 1, axis.src), inside);
}

void add_bilinear(AxisPlan &plan, const Axis &axis, Chroma chroma, int k) {
  const Samples &s = axis.samples;
  const double f = position(axis, k);
  const Neighbours n = neighbours(f + s.rest, s.first);
  const double inside = axis.shows(k) ? inside_weight(axis, n) : 0.0;
  const bool pad = inside == 0.0;
  plan.luma.push_back(pad ? pad_tap() : bilinear_tap(n, s.first, s.last, axis.src, inside));
  if (!chroma.is_subsampled()) return;
  plan.chroma.push_back(pad ? pad_tap() : bilinear_chroma_tap(axis, chroma, f, inside));
}

/// Returns the index of the nearest sample, or -1 outside the picture.
int32_t nearest_index(const Axis &axis, int k) {
  if (!axis.shows(k)) return -1;
  const auto first = static_cast<double>(axis.samples.first);
  double i;
  if (axis.step > 0.0) {
    i = std::floor(position(axis, k) + axis.samples.rest + 0.5) + first;
    if (!axis.is_region(i)) return -1;
  } else {
    // There is a single division, which is exact for integers in the cases that decide between two
    // samples.
    const double in = (k - axis.offset) * axis.region.length / axis.content;
    i = axis.limit_to_region(std::floor(in + axis.samples.rest) + first);
  }
  return axis.is_picture(i) ? static_cast<int32_t>(i) : -1;
}

void add_nearest(AxisPlan &plan, const Axis &axis, Chroma chroma, int k) {
  const int32_t i = nearest_index(axis, k);
  plan.luma.push_back(i < 0 ? pad_tap() : Tap{i, i, 0.0f, 1.0f});
  if (!chroma.is_subsampled()) return;
  const auto sample = static_cast<int32_t>(ChromaGrid(chroma, axis.src).sample_of(i));
  plan.chroma.push_back(i < 0 ? pad_tap() : Tap{sample, sample, 0.0f, 1.0f});
}

AxisPlan make_axis_plan(const Axis &axis, Method method, Chroma chroma) {
  AxisPlan plan;
  plan.luma.reserve(axis.dst);
  if (chroma.is_subsampled()) plan.chroma.reserve(axis.dst);
  for (int k = 0; k < axis.dst; ++k) {
    if (method == Method::bilinear)
      add_bilinear(plan, axis, chroma, k);
    else
      add_nearest(plan, axis, chroma, k);
  }
  return plan;
}

}  // namespace

SamplingPlan make_sampling_plan(const Geometry &g, Method method, Chroma chroma_x,
                                Chroma chroma_y) {
  const Extent across = {g.region.x, g.region.width}, down = {g.region.y, g.region.height};
  const Axis x = {g.src_width, g.dst_width,     across, samples_in(across),
                  g.offset_x,  g.resized_width, g.step};
  const Axis y = {g.src_height, g.dst_height,     down,  samples_in(down),
                  g.offset_y,   g.resized_height, g.step};
  return {make_axis_plan(x, method, chroma_x), make_axis_plan(y, method, chroma_y)};
}

FixedAxisPlan make_fixed_axis_plan(Extent part, int resized, int first, int count, Chroma chroma,
                                   int length) {
  const Samples samples = samples_in(part);
  const ChromaGrid grid(chroma, length);
  const int64_t scale = std::llround(part.length * kFixedOne) / resized;
  const int64_t begin = std::llround(samples.rest * kFixedOne);
  FixedAxisPlan plan;
  for (int k = 0; k < count; ++k) {
    const int64_t x =
        (static_cast<int64_t>(first) + k) * scale + (scale >> 1) - (kFixedOne >> 1) + begin;
    const int64_t i = samples.first + (x >> kFixedBits);
    const auto clamped = [&](int64_t tap) {
      return static_cast<int32_t>(std::clamp(tap, samples.first, samples.last));
    };
    const FixedTap tap = {clamped(i), clamped(i + 1), static_cast<int32_t>(x & (kFixedOne - 1))};
    plan.luma.push_back(tap);
    if (chroma.is_subsampled())
      plan.chroma.push_back({static_cast<int32_t>(grid.sample_of(tap.i0)),
                             static_cast<int32_t>(grid.sample_of(tap.i1)), tap.w});
  }
  return plan;
}

}  // namespace cudatensor
