// SPDX-License-Identifier: LGPL-2.1-or-later
// Depth to space, order CRD: out[n][c][h][w] = in[n][c·r² + r·(h mod r) + (w mod r)][h/r][w/r].
#pragma once

#include <optional>

#include "kernels/geometry.h"
#include "kernels/tensor.h"

namespace cudatensor {

/// The parameters of a shuffle (N, C·r², H, W) → (N, C, r·H, r·W) in NCHW layout. Input and output
/// have the same type: float16, float32 or uint8.
struct PixelShuffleParams {
  TensorDesc in;
  int factor;  ///< r, at least 1
};

/// The parameters of a shuffle to a picture of r·W × r·H. N must be 1, and C must be 3 (channel 0
/// is red) or 1.
struct PixelShuffleToVideoParams {
  TensorDesc in;
  int factor;
  ImageDesc out;  ///< RGB, BGR, RGBP or, for C = 1, GRAY8
  double scale;   ///< 0: 255 for float types, 1 for uint8
  double offset;
};

struct SampleScale {
  float scale, offset;
};

/// Returns the output tensor. Throws if the channel count, factor, type or layout is not supported.
TensorDesc shuffled(const PixelShuffleParams &params);

/// The geometry of a channel in the output; no value if a side exceeds the limit for pictures.
std::optional<Geometry> geometry_of(const PixelShuffleParams &params);

/// Returns the factors of a shuffle to a picture. Throws like shuffled(), and if the format or size
/// of the picture does not match the tensor, or scale or offset is not finite.
SampleScale make_sample_scale(const PixelShuffleToVideoParams &params);

/// Converts an element to a sample; NaN becomes 0.
CUDATENSOR_HD uint8_t to_video_sample(float x, SampleScale k) {
  return to_element<uint8_t>(fmaf(x, k.scale, k.offset));
}

}  // namespace cudatensor
