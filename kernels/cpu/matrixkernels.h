// SPDX-License-Identifier: LGPL-2.1-or-later
// The row functions of MatrixRows, see rows.h.
#pragma once

#include "kernels/cpu/rows.h"
#include "kernels/matrixplan.h"

namespace cudatensor::cpu {

/// The samples that a row of pixels reads along one axis. Pixel k is at start + step · k, in units
/// of 2^-32 luma samples from the first sample; 2^shift luma samples are one sample.
struct SampleLine {
  int64_t start, step;
  int shift;
  int32_t length;  ///< samples

  int64_t at(int k) const { return position_at({step, 0, start}, k, 0); }
  SampleLine from(int k) const { return {at(k), step, shift, length}; }
};

/// Entries for a row of pixels, as in Tap.
struct TapRow {
  int32_t *i0, *i1;
  float *w, *inside;
};

/// Words of one to four bytes. Each holds the samples of one to three components, in one byte each
/// or, of more than eight bits, in two, the first in the lowest.
struct WordPlane {
  const uint8_t *data;
  ptrdiff_t stride;
  int step;         ///< bytes from a word to its right neighbor
  ptrdiff_t ahead;  ///< bytes from a word to one that load() prefetches
};

/// The words around pixels: each pixel has a pair in `above` and one in `below`. A pair is a word
/// of two taps, see gather.h; words of three bytes take four.
struct WordPairs {
  uint8_t *above, *below;
};

struct MatrixKernels {
  /// Finds the entries of n pixels. Indexed by whether the method is nearest.
  void (*find[2])(const SampleLine &line, int n, const TapRow &taps);

  /// Finds the byte offsets of the first words around n pixels whose words are all in the picture,
  /// and the weights of the words after them along each axis. Indexed likewise.
  void (*place[2])(const SampleLine &x, const SampleLine &y, const WordPlane &plane, int n,
                   int32_t *offset, float *wx, float *wy);

  /// Load the words around n pixels, by their offsets and by their entries. Indexed by the bytes of
  /// a word - 1.
  void (*load[4])(const WordPlane &plane, const int32_t *offset, int n, const WordPairs &to);
  void (*load_taps[4])(const WordPlane &plane, const TapRow &x, const TapRow &y, int n,
                       const WordPairs &to);

  /// Blend samples, along y first, into rows of components. Indexed by components - 1.
  void (*blend[3])(const WordPairs &words, const float *wx, const float *wy, int n,
                   float *const *out);
  void (*blend_deep[2])(const WordPairs &words, const float *wx, const float *wy, int n,
                        const DeepRead &read, float *const *out);

  /// Blends pixels at the border of the picture with the pad color.
  void (*blend_border)(const float *inside_x, const float *inside_y, float pad, int n, float *v);
};

const MatrixKernels &matrix_kernels();

}  // namespace cudatensor::cpu
