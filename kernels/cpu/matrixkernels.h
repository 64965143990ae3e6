// SPDX-License-Identifier: LGPL-2.1-or-later
// The row functions of MatrixRows, see rows.h.
#pragma once

#include "kernels/cpu/rows.h"
#include "kernels/matrixplan.h"

namespace cudatensor::cpu {

/// The words of n pixels at the four samples around each, in the order upper left, upper right,
/// lower left, lower right. A word holds the samples of one to three components, in one byte each
/// or, of more than eight bits, in two, the first in the lowest.
struct CornerWords {
  const uint32_t *of[4];
};

struct MatrixKernels {
  /// Finds the samples of n pixels along one axis of `length` samples: the first of the two around
  /// each, which may be outside of the picture, its neighbor's weight, and the part of the weight
  /// that is inside. Pixel 0 is at `position`; the next is `step` further.
  void (*find)(int64_t position, int64_t step, int n, int32_t length, int32_t *first, float *w,
               float *inside);
  /// The same for the nearest sample, whose neighbor has no weight.
  void (*find_nearest)(int64_t position, int64_t step, int n, int32_t length, int32_t *first,
                       float *w, float *inside);

  /// Finds the chroma samples of the pixels that find() has found the luma samples of.
  void (*find_chroma)(int64_t position, int64_t step, int n, const Chroma &chroma, int32_t *first,
                      float *w);

  /// Blend samples, along y first, into rows of components. Indexed by components - 1.
  void (*blend[3])(const CornerWords &words, const float *wx, const float *wy, int n,
                   float *const *out);
  void (*blend_deep[2])(const CornerWords &words, const float *wx, const float *wy, int n,
                        const DeepRead &read, float *const *out);

  /// Blends pixels at the border of the picture with the pad color.
  void (*blend_border)(const float *inside_x, const float *inside_y, float pad, int n, float *v);
};

const MatrixKernels &matrix_kernels();

}  // namespace cudatensor::cpu
