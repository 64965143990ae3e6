// SPDX-License-Identifier: LGPL-2.1-or-later
#include "samplingplan.h"

#include <algorithm>

namespace cudatensor {
namespace {

/// One axis of a geometry.
struct Axis {
  int src, dst;
  int offset, content;  // stretch: the content's place in the output
  double step;          // affine, otherwise 0
};

int32_t clamp_index(double i, int length) {
  return static_cast<int32_t>(std::clamp(i, 0.0, static_cast<double>(length - 1)));
}

Tap pad_tap() { return {0, 0, 0.0f, 0.0f}; }

Tap bilinear_tap(double f, int length, double inside) {
  const double floor = std::floor(f);
  return {clamp_index(floor, length), clamp_index(floor + 1.0, length),
          static_cast<float>(f - floor), static_cast<float>(inside)};
}

double to_chroma(double f, Chroma chroma) {
  return chroma == Chroma::cosited ? f / 2.0 : (f + 0.5) / 2.0 - 0.5;
}

/// The share of an affine coordinate's weight that lies on samples of the picture.
double share_inside(double f, int src) {
  const double i0 = std::floor(f);
  const double w = f - i0;
  const bool first = i0 >= 0.0, second = i0 + 1.0 < src;
  if (first && second) return 1.0;
  return first ? 1.0 - w : second ? w : 0.0;
}

struct Position {
  double f;
  double inside;
};

Position position(const Axis &axis, int k) {
  if (axis.step > 0.0) {
    const double f = (k + 0.5 - axis.dst / 2.0) * axis.step + axis.src / 2.0 - 0.5;
    return {f, f <= -1.0 || f >= axis.src ? 0.0 : share_inside(f, axis.src)};
  }
  const int in = k - axis.offset;
  const double f = (in + 0.5) * (static_cast<double>(axis.src) / axis.content) - 0.5;
  return {f, in >= 0 && in < axis.content ? 1.0 : 0.0};
}

void add_bilinear(AxisPlan &plan, const Axis &axis, Chroma chroma, int k) {
  const auto [f, inside] = position(axis, k);
  const bool pad = inside == 0.0;
  plan.luma.push_back(pad ? pad_tap() : bilinear_tap(f, axis.src, inside));
  if (chroma == Chroma::none) return;
  const int length = component_length(true, 1, axis.src);
  plan.chroma.push_back(pad ? pad_tap() : bilinear_tap(to_chroma(f, chroma), length, inside));
}

/// The nearest sample, or -1 outside the picture.
int64_t nearest_index(const Axis &axis, int k) {
  if (axis.step > 0.0) {
    const double i = std::floor(position(axis, k).f + 0.5);
    return i >= 0.0 && i < axis.src ? static_cast<int64_t>(i) : -1;
  }
  const int64_t in = k - axis.offset;
  return in >= 0 && in < axis.content ? in * axis.src / axis.content : -1;
}

void add_nearest(AxisPlan &plan, const Axis &axis, Chroma chroma, int k) {
  const auto i = static_cast<int32_t>(nearest_index(axis, k));
  plan.luma.push_back(i < 0 ? pad_tap() : Tap{i, i, 0.0f, 1.0f});
  if (chroma == Chroma::none) return;
  plan.chroma.push_back(i < 0 ? pad_tap() : Tap{i / 2, i / 2, 0.0f, 1.0f});
}

AxisPlan make_axis_plan(const Axis &axis, Method method, Chroma chroma) {
  AxisPlan plan;
  plan.luma.reserve(axis.dst);
  if (chroma != Chroma::none) plan.chroma.reserve(axis.dst);
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
  const Axis x = {g.src_width, g.dst_width, g.pad_left, g.content_width, g.step};
  const Axis y = {g.src_height, g.dst_height, g.pad_top, g.content_height, g.step};
  return {make_axis_plan(x, method, chroma_x), make_axis_plan(y, method, chroma_y)};
}

FixedAxisPlan make_fixed_axis_plan(int src, int resized, int first, int count, bool subsampled) {
  const int64_t scale = (static_cast<int64_t>(src) << kFixedBits) / resized;
  FixedAxisPlan plan;
  for (int k = 0; k < count; ++k) {
    const int64_t x = (static_cast<int64_t>(first) + k) * scale + (scale >> 1) - (kFixedOne >> 1);
    const int64_t i = x >> kFixedBits;
    const auto clamped = [src](int64_t tap) {
      return static_cast<int32_t>(std::clamp<int64_t>(tap, 0, src - 1));
    };
    const FixedTap tap = {clamped(i), clamped(i + 1), static_cast<int32_t>(x & (kFixedOne - 1))};
    plan.luma.push_back(tap);
    if (subsampled) plan.chroma.push_back({tap.i0 / 2, tap.i1 / 2, tap.w});
  }
  return plan;
}

}  // namespace cudatensor
