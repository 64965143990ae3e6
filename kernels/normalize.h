// SPDX-License-Identifier: LGPL-2.1-or-later
// Camera picture to network tensor in one pass.
#pragma once

#include <optional>
#include <vector>

#include "kernels/resample.h"
#include "kernels/tensor.h"
#include "kernels/yuv444.h"

namespace cudatensor {

enum class Normalization : uint8_t { mean_std, alpha_beta };

/// The lists hold one value, or one for each output channel.
struct NormalizeParams {
  Source source;
  TensorDesc out;  ///< n = 1; c = 1 for gray, otherwise 3
  Resize resize;
  Color color = Color::rgb;
  Normalization normalization = Normalization::mean_std;
  double scale = 0.0;  ///< 0: 1/255 for float types, 1 for integer types
  std::vector<double> mean = {0.0};
  std::vector<double> std = {1.0};
  std::vector<double> alpha = {1.0 / 255.0};
  std::vector<double> beta = {0.0};
  bool round = false;                 ///< to whole sample values before normalising
  std::optional<Region> region = {};  ///< of the source; without one all of it
  /// Regions may leave the source, beyond which is the pad colour. YUV is not in fixed point then.
  bool beyond_is_pad = false;
};

bool operator==(const NormalizeParams &a, const NormalizeParams &b);

/// Per output channel: out = fma(a, x, b).
struct ChannelScale {
  float a, b;
};

struct NormalizePlan {
  TensorDesc out;
  std::optional<ResamplePlan> resample;  ///< the float path …
  std::optional<Yuv444Plan> fixed;       ///< … or the fixed-point one: yuv, stretch, bilinear
  ChannelScale channel[3];
  float pad[3];  ///< by component, before it is normalised
  bool swap;     ///< channels 0 and 2 change places (BGR)
  bool round;
};

/// The plans of a batch's slots: `params` with each source in turn. Throws like make_normalize_plan,
/// and where `params.out.n` is not the number of sources, which is at least 1.
std::vector<NormalizePlan> make_normalize_plans(const std::vector<Source> &sources,
                                                NormalizeParams params);

/// The parameters of a slot of a batch. Throws where there is none.
NormalizeParams one_slot(NormalizeParams params);

/// Throws where a list has a length that fits no channel count, a value is not finite, a std is 0,
/// the tensor's shape does not fit the colour, a size is out of range or a region leaves the source
/// that may not; the text names the property.
NormalizePlan make_normalize_plan(const NormalizeParams &params);

CUDATENSOR_HD float normalize(ChannelScale k, float x) { return fmaf(k.a, x, k.b); }

}  // namespace cudatensor
