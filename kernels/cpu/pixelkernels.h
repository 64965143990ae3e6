// SPDX-License-Identifier: LGPL-2.1-or-later
// The row functions of PixelRows, see rows.h.
#pragma once

#include "kernels/color.h"

namespace cudatensor::cpu {

struct PixelKernels {
  /// Split n pixels of three bytes, or of four, into rows by the offset of a byte in the pixel. A
  /// null row of four is left out.
  void (*split3)(const uint8_t *pixels, int n, uint8_t *const *out);
  void (*split4)(const uint8_t *pixels, int n, uint8_t *const *out);
  /// Computes four times the blend of two rows of chroma, the second with the weight w / 4.
  void (*blend_chroma)(const uint8_t *above, const uint8_t *below, int w, int n, uint16_t *out);
  /// Computes four times the blends of neighbors, two for each of n samples: pixel 2 i blends
  /// samples i - 1 and i, and pixel 2 i + 1 blends i and i + 1, with two `weights` each.
  void (*double_chroma)(const uint16_t *samples, const uint16_t *weights, int n, uint16_t *out);
  /// Computes R, G and B of pixels whose chroma is in units of 1 / 16.
  void (*yuv_to_rgb)(const YuvToRgb &k, const uint8_t *y, const uint16_t *u, const uint16_t *v,
                     int n, uint8_t *const *out);
};

const PixelKernels &pixel_kernels();

}  // namespace cudatensor::cpu
