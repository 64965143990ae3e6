// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/quadargs.h"

#include <algorithm>
#include <array>

#include "kernels/tensor.h"

namespace cudatensor::cuda {
namespace {

/// The weights of the second samples of a quad. Chroma is centered between luma samples, or at even
/// luma samples.
using Weights = std::array<float, 4>;
constexpr Weights kCentered = {0.75f, 0.25f, 0.75f, 0.25f};
constexpr Weights kCosited = {1.0f, 0.5f, 1.0f, 0.5f};

/// Whether an entry gives the same result as blending samples `first` and `first` + 1 with this
/// weight.
bool is_entry(const Tap &tap, int first, float weight, int low, int high) {
  const int i0 = std::clamp(first, low, high), i1 = std::clamp(first + 1, low, high);
  if (tap.inside != 1.0f) return false;
  if (tap.w == 0.0f || tap.i0 == tap.i1)
    return tap.i0 == (weight == 1.0f ? i1 : i0) && (weight == 1.0f || i0 == i1);
  return tap.i0 == i0 && tap.i1 == i1 && tap.w == weight;
}

bool has_weights(const AxisPlan &plan, int begin, const Weights &weights, int low, int high) {
  for (size_t t = 0; t < plan.chroma.size(); ++t) {
    const int pixel = begin + static_cast<int>(t);
    const Tap &luma = plan.luma[t];
    if (luma.i0 != pixel || luma.w != 0.0f || luma.inside != 1.0f) return false;
    if (!is_entry(plan.chroma[t], (pixel + 1) / 2 - 1, weights[pixel % 4], low, high)) return false;
  }
  return true;
}

/// Makes the axis with chroma samples `low` to `high`, those of the whole picture or of a region.
/// Returns no value if the plan has other weights.
std::optional<QuadAxis> make_axis(const AxisPlan &plan, int begin, int low, int high) {
  for (const Weights &weights : {kCentered, kCosited}) {
    if (!has_weights(plan, begin, weights, low, high)) continue;
    QuadAxis axis = {low, high, {}};
    for (int k = 0; k < 4; ++k) axis.weight[k] = to_half(weights[k]).bits * 0x10001u;
    return axis;
  }
  return std::nullopt;
}

std::optional<QuadAxis> make_axis(const AxisPlan &plan, int begin, int length) {
  if (const auto whole = make_axis(plan, begin, 0, component_length(1, 1, length) - 1))
    return whole;
  int low = kMaxImageSize, high = 0;
  for (const Tap &tap : plan.chroma) {
    low = std::min(low, tap.i0);
    high = std::max(high, tap.w == 0.0f ? tap.i0 : tap.i1);
  }
  return make_axis(plan, begin, low, high);
}

}  // namespace

std::optional<QuadArgs> make_quad_args(const ImageDesc &image, const SamplingPlan &plan, int x,
                                       int y) {
  const FormatLayout layout = layout_of(image.format);
  if (!layout.is_420() || layout.is_deep() || plan.x.luma.empty() || plan.y.luma.empty())
    return std::nullopt;
  const auto across = make_axis(plan.x, x, image.width);
  const auto down = make_axis(plan.y, y, image.height);
  if (!across || !down) return std::nullopt;
  const uint32_t u = layout.component[1].offset, v = layout.component[2].offset;
  return QuadArgs{*across, *down, image.width, image.height, 0x4040u | u | v << 8};
}

}  // namespace cudatensor::cuda
