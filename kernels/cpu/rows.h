// SPDX-License-Identifier: LGPL-2.1-or-later
// What the CPU does to a row, stage by stage. Each function is compiled for several instruction
// sets; the table of the best one that this CPU has is chosen once. The choice is outside every
// loop, and so is every format: entries are picked when an operation is prepared.
#pragma once

#include "kernels/histogram.h"
#include "kernels/letterbox.h"
#include "kernels/normalize.h"
#include "kernels/pixelshuffle.h"

namespace cudatensor::cpu {

constexpr int kSteps = 5;  // tables indexed by a step of 1 to 4 bytes or samples

struct RowKernels {
  /// out[i] = blend(a[i], b[i], w) and out[i] = a[i].
  void (*blend)(const uint8_t *a, const uint8_t *b, float w, int n, float *out);
  void (*widen)(const uint8_t *a, int n, float *out);

  /// out[x] from samples taps[x].i0 · step and taps[x].i1 · step of a row.
  void (*interpolate[kSteps])(const float *row, const Tap *taps, int n, float *out);
  void (*pick[kSteps])(const uint8_t *row, const Tap *taps, int n, float *out);

  /// In place, by Conversion; components that a conversion does not use are not touched.
  void (*convert[5])(const YuvToRgb &k, int n, float *c0, float *c1, float *c2);
  void (*over_pad)(const Tap *taps, float inside_y, float pad, int n, float *v);
  void (*round)(int n, float *v);

  /// Rounded samples: one plane, or interleaved rows of 3 or 4.
  void (*store_plane)(const float *v, int n, uint8_t *out);
  void (*store_packed[kSteps])(const float *const *v, int n, uint8_t *out);

  /// Normalised elements, by DType: one plane, or three interleaved.
  void (*normalize_plane[4])(ChannelScale k, const float *v, int n, void *out);
  void (*normalize_packed[4])(const ChannelScale *k, const float *const *v, int n, void *out);

  void (*fixed_horizontal[kSteps])(const uint8_t *row, const FixedTap *taps, int n, int32_t *out);
  void (*fixed_vertical)(const int32_t *v0, const int32_t *v1, int32_t w, int n, uint8_t *out);

  /// Luminance of every `step`-th byte of three rows.
  void (*luminance[kSteps])(const uint8_t *r, const uint8_t *g, const uint8_t *b, int n,
                            uint8_t *out);
  /// Adds every `step`-th byte to four tables of 256, whose sum counts.
  void (*count[3])(const uint8_t *row, int n, uint32_t *bins);

  /// r rows, `stride` elements apart, to one of r · n; by the element's size of 1, 2 or 4 bytes.
  void (*interleave[kSteps])(const void *rows, int64_t stride, int r, int64_t n, void *out);
  /// The same to samples `step` bytes apart; by DType.
  void (*interleave_video[4])(const void *rows, int64_t stride, int r, int n, SampleScale k,
                              int step, uint8_t *out);
};

const RowKernels &row_kernels();

}  // namespace cudatensor::cpu
