// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of camera pictures to a network's tensor in one pass.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "kernels/filterplan.h"
#include "kernels/matrixplan.h"
#include "kernels/resample.h"
#include "kernels/tensor.h"
#include "kernels/yuv444.h"

namespace cudatensor {

enum class Normalization : uint8_t { mean_std, alpha_beta };

/// Maximum number of slots of a tensor.
constexpr int64_t kMaxBatch = 65536;

/// The parameters of a conversion that do not depend on the pictures. Each list holds one value, or
/// one value per output channel.
struct NormalizeParams {
  Resize resize;
  Color color = Color::rgb;
  Normalization normalization = Normalization::mean_std;
  double scale = 0.0;  ///< 0: 1/255 for float types, 1 for integer types
  std::vector<double> mean = {0.0};
  std::vector<double> std = {1.0};
  std::vector<double> alpha = {1.0 / 255.0};
  std::vector<double> beta = {0.0};
  bool round = false;  ///< round to whole sample values before normalization
  /// Makes pixels outside the picture 0 in the tensor, instead of the normalized pad value. The
  /// tensor must have a float type. Pixels that blend with the pad value are not changed.
  bool pad_normalized = false;
  /// Allows regions to extend beyond their picture, where the pad color is used. YUV is then not
  /// computed in fixed point.
  bool pad_outside = false;
  /// Slots by a matrix repeat the edge of their picture, instead of blending with the pad color.
  bool repeat_edge = false;

  int channels() const { return color == Color::gray ? 1 : 3; }
};

bool operator==(const NormalizeParams &a, const NormalizeParams &b);
inline bool operator!=(const NormalizeParams &a, const NormalizeParams &b) { return !(a == b); }

/// The content of a tensor's slot: a picture, or a region of one.
struct Slot {
  Source source;
  ConstImage image;  ///< has the format of `source.image`; without memory, the slot is pad
  std::optional<Region> region = {};  ///< of the seen picture; no value: all of it
  /// Maps the stored picture to the slot, in place of a region and a resize.
  std::optional<Matrix> matrix = {};

  bool is_pad() const { return image.planes[0].data == nullptr; }
};

/// The factors of an output channel: out = fma(a, x, b).
struct ChannelScale {
  float a, b;
};

/// The part of a plan that all slots of a tensor share.
struct TensorPlan {
  TensorDesc slot;  ///< the first slot of the tensor
  ChannelScale channel[3];
  PadColor pad;  ///< before normalization
  bool swap;     ///< channels 0 and 2 are swapped (BGR)
  bool round;
  bool pad_is_zero;  ///< pad is 0 after normalization
};

/// Makes the shared part of a plan. Throws if the length of a list is neither 1 nor the number of
/// channels, a value is not finite, a std is 0, the tensor's shape does not match the color or a
/// size is out of range. The text names the property.
TensorPlan make_tensor_plan(const NormalizeParams &params, const TensorDesc &out);

/// The plan of a slot's picture. The sampling is in float32, in fixed point (8-bit YUV, stretch,
/// bilinear) or antialiased.
struct SlotPlan {
  Geometry geometry;
  std::variant<ResamplePlan, Yuv444Plan, FilterPlan, MatrixPlan> sampling;
};

/// Makes the plan of a slot, which shows the source, or a region of the seen picture. Throws if the
/// source cannot be converted to the colors, a size is out of range, or a region extends beyond the
/// picture without `pad_outside`.
SlotPlan make_slot_plan(const NormalizeParams &params, const TensorDesc &out, const Source &source,
                        const std::optional<Region> &region);

/// Makes the plan of a slot by a matrix. Throws like make_matrix_plan(), and if the settings exclude
/// such slots.
SlotPlan make_matrix_slot_plan(const NormalizeParams &params, const TensorDesc &out,
                               const Source &source, const Matrix &matrix);

CUDATENSOR_HD float normalize(ChannelScale k, float x) { return fmaf(k.a, x, k.b); }

}  // namespace cudatensor
