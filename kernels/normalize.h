// SPDX-License-Identifier: LGPL-2.1-or-later
// Camera pictures to a network's tensor in one pass.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "kernels/resample.h"
#include "kernels/tensor.h"
#include "kernels/yuv444.h"

namespace cudatensor {

enum class Normalization : uint8_t { mean_std, alpha_beta };

/// Slots of a tensor.
constexpr int64_t kMaxBatch = 65536;

/// How pictures become a tensor, whatever the pictures are. The lists hold one value, or one for each
/// output channel.
struct NormalizeParams {
  Resize resize;
  Color color = Color::rgb;
  Normalization normalization = Normalization::mean_std;
  double scale = 0.0;  ///< 0: 1/255 for float types, 1 for integer types
  std::vector<double> mean = {0.0};
  std::vector<double> std = {1.0};
  std::vector<double> alpha = {1.0 / 255.0};
  std::vector<double> beta = {0.0};
  bool round = false;  ///< to whole sample values before normalising
  /// Regions may leave their picture, beyond which is the pad colour. YUV is not in fixed point then.
  bool pad_outside = false;

  int channels() const { return color == Color::gray ? 1 : 3; }
};

bool operator==(const NormalizeParams &a, const NormalizeParams &b);
inline bool operator!=(const NormalizeParams &a, const NormalizeParams &b) { return !(a == b); }

/// One slot of a tensor: a picture, or a region of one.
struct Slot {
  Source source;
  ConstImage image;                   ///< of `source.image`; without memory the slot is pad
  std::optional<Region> region = {};  ///< without one all of the picture

  bool is_pad() const { return image.planes[0].data == nullptr; }
};

/// Per output channel: out = fma(a, x, b).
struct ChannelScale {
  float a, b;
};

/// What the slots of a tensor have in common.
struct TensorPlan {
  TensorDesc slot;  ///< n = 1
  ChannelScale channel[3];
  PadColor pad;  ///< before it is normalised
  bool swap;     ///< channels 0 and 2 change places (BGR)
  bool round;
};

/// Throws where a list has a length that fits no channel count, a value is not finite, a std is 0, the
/// tensor's shape does not fit the colour or a size is out of range; the text names the property.
TensorPlan make_tensor_plan(const NormalizeParams &params, const TensorDesc &out);

/// How a slot's picture is sampled: in float32, or in fixed point (YUV, stretched, bilinear).
struct SlotPlan {
  Geometry geometry;
  std::variant<ResamplePlan, Yuv444Plan> sampling;
};

/// Throws where the source has no such colours, a size is out of range or a region leaves the picture
/// and may not.
SlotPlan make_slot_plan(const NormalizeParams &params, const TensorDesc &out, const Source &source,
                        const std::optional<Region> &region);

CUDATENSOR_HD float normalize(ChannelScale k, float x) { return fmaf(k.a, x, k.b); }

}  // namespace cudatensor
