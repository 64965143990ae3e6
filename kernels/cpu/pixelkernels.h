// SPDX-License-Identifier: LGPL-2.1-or-later
// The row functions of PixelRows, see rows.h.
#pragma once

#include "kernels/color.h"

namespace cudatensor::cpu {

struct PixelKernels {
  /// Splits n pixels of three bytes.
  void (*split)(const uint8_t *pixels, int n, uint8_t *const *out);
  /// Four times the blend of two rows of chroma, whose second one has the weight w / 4.
  void (*blend_chroma)(const uint8_t *above, const uint8_t *below, int w, int n, uint16_t *out);
  /// Four times the blends of neighbors, two for each of n samples: the weights of samples i - 1
  /// and i for pixel 2 i, and of i and i + 1 for pixel 2 i + 1.
  void (*double_chroma)(const uint16_t *samples, const uint16_t *weights, int n, uint16_t *out);
  /// R, G and B of pixels whose chroma is in units of 1 / 16.
  void (*yuv_to_rgb)(const YuvToRgb &k, const uint8_t *y, const uint16_t *u, const uint16_t *v,
                     int n, uint8_t *const *out);
};

const PixelKernels &pixel_kernels();

}  // namespace cudatensor::cpu
