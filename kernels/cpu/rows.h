// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU's row functions, one per processing stage. Each is compiled for several instruction sets,
// and the table for the best set that the CPU supports is chosen once. Operations choose their
// functions by format when they are created, so that no loop depends on the format.
#pragma once

#include "kernels/histogram.h"
#include "kernels/letterbox.h"
#include "kernels/normalize.h"
#include "kernels/pixelshuffle.h"

namespace cudatensor::cpu {

struct Window;  // gather.h

/// How samples of more than eight bits are read from words of two bytes per sample.
struct DeepRead {
  uint32_t mask;  ///< mask of the sample's bits
  DepthScale scale;
};

/// kCopies adjacent counters per bin; the count of a bin is their sum.
struct alignas(64) Counters {
  static constexpr int kCopies = 8;
  uint32_t of[kBins][kCopies];
};

/// See gather.h for the format of gathered words.
struct RowKernels {
  int window;  ///< size of a Window in bytes, 16 or 64
  void (*gather)(const uint8_t *row, const uint8_t *ahead, const Window *windows,
                 const uint8_t *shuffles, int count, uint8_t *words);

  /// Converts words to rows of components. Two rows are blended by `wy`, and words of two taps by
  /// `wx`. Indexed by components - 1, taps - 1 and rows - 1.
  using Sample = void (*)(const uint8_t *above, const uint8_t *below, float wy, const float *wx,
                          int n, float *const *out);
  Sample sample[3][2][2];
  /// Converts words of samples of more than eight bits to the scale of eight, like Sample. Words
  /// have one or two components.
  using DeepSample = void (*)(const uint8_t *above, const uint8_t *below, float wy, const float *wx,
                              int n, const DeepRead &read, float *const *out);
  DeepSample deep_sample[2][2][2];

  /// Converts in place; leaves unused components unchanged. Indexed by Conversion.
  void (*convert[5])(const YuvToRgb &k, int n, float *c0, float *c1, float *c2);
  void (*blend_with_pad)(const Tap *taps, float inside_y, float pad, int n, float *v);
  void (*round)(int n, float *v);

  /// Convert floats to samples, and samples to floats.
  void (*narrow)(const float *v, int n, uint8_t *out);
  void (*widen)(const uint8_t *v, int n, float *out);

  /// Normalizes to tensor elements. Indexed by DType.
  void (*normalize[5])(ChannelScale k, const float *v, int n, void *out);

  /// Splits words of one tap into rows of components. Indexed by components - 1.
  void (*split[2])(const uint8_t *words, int n, uint8_t *const *out);

  /// Blends words of two taps to Q8.5, one component after the other. Indexed by components - 1.
  void (*fixed_horizontal[2])(const uint8_t *words, const int32_t *w, int n, int32_t *out);
  void (*fixed_vertical)(const int32_t *v0, const int32_t *v1, int32_t w, int n, uint8_t *out);

  /// Computes the luminance of four-byte pixels with R, G and B at the byte offsets `offset`.
  void (*luminance)(const uint8_t *pixels, const uint8_t *offset, int n, uint8_t *out);
  /// Extracts the low byte of 16-bit words after a shift to the right.
  void (*upper_bits)(const uint8_t *words, int n, int shift, uint8_t *out);
  /// Counts every `step`-th byte. Indexed by the step, 1 or 2.
  void (*count[3])(const uint8_t *row, int n, Counters &counters);

  /// Interleaves the elements of r rows. Indexed by the element size, 1, 2 or 4 bytes.
  void (*interleave[5])(const void *const *rows, int r, int64_t n, void *out);
  /// Converts elements to samples. Indexed by DType, except int8 and bfloat16.
  void (*to_video[4])(const void *row, int n, SampleScale k, uint8_t *out);
};

const RowKernels &row_kernels();

}  // namespace cudatensor::cpu
