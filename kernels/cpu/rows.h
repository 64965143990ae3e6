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

struct Window;  // gather.h

/// Counters whose sum counts: kEach of each bin, side by side.
struct alignas(64) Counters {
  static constexpr int kEach = 8;
  uint32_t of[kBins][kEach];
};

/// Gathered words are described in gather.h.
struct RowKernels {
  int window;  ///< bytes of a window: 16 or 64
  void (*gather)(const uint8_t *row, const uint8_t *ahead, const Window *windows,
                 const uint8_t *shuffles, int count, uint8_t *words);

  /// Words of one row, or of two that are blended by `wy`, to rows of components; those of two taps
  /// are blended by `wx`. By components - 1, taps - 1 and rows - 1.
  using Sample = void (*)(const uint8_t *above, const uint8_t *below, float wy, const float *wx,
                          int n, float *const *out);
  Sample sample[3][2][2];

  /// In place, by Conversion; components that a conversion does not use are not touched.
  void (*convert[5])(const YuvToRgb &k, int n, float *c0, float *c1, float *c2);
  void (*over_pad)(const Tap *taps, float inside_y, float pad, int n, float *v);
  void (*round)(int n, float *v);

  /// To samples, and back.
  void (*narrow)(const float *v, int n, uint8_t *out);
  void (*widen)(const uint8_t *v, int n, float *out);

  /// Normalised elements, by DType.
  void (*normalize[4])(ChannelScale k, const float *v, int n, void *out);

  /// Words of one tap to rows of components; by components - 1.
  void (*split[2])(const uint8_t *words, int n, uint8_t *const *out);

  /// Words of two taps to Q8.5, component after component; by components - 1.
  void (*fixed_horizontal[2])(const uint8_t *words, const int32_t *w, int n, int32_t *out);
  void (*fixed_vertical)(const int32_t *v0, const int32_t *v1, int32_t w, int n, uint8_t *out);

  /// Luminance of pixels of four bytes that have R, G and B at `offset`.
  void (*luminance)(const uint8_t *pixels, const uint8_t *offset, int n, uint8_t *out);
  /// Adds every `step`-th byte to the counters; by a step of 1 or 2.
  void (*count[3])(const uint8_t *row, int n, Counters &counters);

  /// One element of each of r rows after the other; by the element's size of 1, 2 or 4 bytes.
  void (*interleave[5])(const void *const *rows, int r, int64_t n, void *out);
  /// Elements as samples; by DType, which is not int8.
  void (*to_video[4])(const void *row, int n, SampleScale k, uint8_t *out);
};

const RowKernels &row_kernels();

}  // namespace cudatensor::cpu
