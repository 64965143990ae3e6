// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of 8-bit 4:2:0 source pixels in quads of four by four, for the kernel of antialiased
// resizes. The weights of chroma are multiples of 1/4, so that blended chroma less 128 is a
// multiple of 1/16, which half precision holds without rounding, for U and V in one register.
#pragma once

#include <cuda_fp16.h>

#include "kernels/cuda/perpixel.cuh"
#include "kernels/cuda/quadargs.h"
#include "kernels/cuda/samples.cuh"

namespace cudatensor::cuda {

/// Returns the first of the two neighboring chroma samples, of four, that pixel `k` of a quad
/// blends.
__device__ __forceinline__ constexpr int pair(int k) { return (k + 1) / 2; }

/// 1024, the half-precision float whose lowest bits are free for a byte.
constexpr uint32_t kHalfBiasBytes = 0x64646464;

/// Values for the conversion of quads that stay in registers. The compiler would otherwise copy a
/// constant before each instruction that cannot have it as an operand.
struct QuadConstants {
  uint32_t bias;    // kBiasBits
  uint32_t select;  // QuadArgs::select

  __device__ __forceinline__ explicit QuadConstants(const QuadArgs &quads)
      : bias(__shfl_sync(0xffffffff, kBiasBits, 0)),
        select(__shfl_sync(0xffffffff, quads.select, 0)) {}
};

/// Does the same as __byte_perm() without masking the selector, whose digits must be below 8.
__device__ __forceinline__ uint32_t select_bytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint32_t bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(selector));
  return bytes;
}

/// The samples of a quad: words of four luma samples by row, and the chroma samples around it.
struct Quad {
  uint32_t luma[4];
  __half2 chroma[4][4];
};

/// Loads chroma samples, plus 1024: U into the low half and V into the high half.
template <class F>
struct QuadChroma;

template <>
struct QuadChroma<SemiPlanar> {
  static __device__ __forceinline__ __half2 biased(const QuadConstants &k, uint32_t word,
                                                   int second) {
    return bit_cast<__half2>(select_bytes(second ? word >> 16 : word, kHalfBiasBytes, k.select));
  }
  static __device__ __forceinline__ __half2 load(const Samples &s, const QuadConstants &k, int row,
                                                 int sample) {
    return biased(k, load_word<uint16_t>(advance(s.data[1], row, s.stride[1]) + 2 * sample), 0);
  }
  /// Loads samples `sample`, which is odd, to `sample` + 3.
  static __device__ __forceinline__ void load_four(const Samples &s, const QuadConstants &k,
                                                   int row, int sample, __half2 (&to)[4]) {
    const uint8_t *const at = advance(s.data[1], row, s.stride[1]) + 2 * sample;
    const uint32_t middle = load_word<uint32_t>(at + 2);
    to[0] = biased(k, load_word<uint16_t>(at), 0);
    to[1] = biased(k, middle, 0);
    to[2] = biased(k, middle, 1);
    to[3] = biased(k, load_word<uint16_t>(at + 6), 0);
  }
};

template <>
struct QuadChroma<PlanarSubsampled> {
  static __device__ __forceinline__ __half2 biased(uint32_t u, uint32_t v) {
    return bit_cast<__half2>(u | v << 16 | (kHalfBiasBytes & 0xff00ff00u));
  }
  static __device__ __forceinline__ __half2 load(const Samples &s, const QuadConstants &, int row,
                                                 int sample) {
    return biased(__ldg(advance(s.data[1], row, s.stride[1]) + sample),
                  __ldg(advance(s.data[2], row, s.stride[2]) + sample));
  }
  static __device__ __forceinline__ void load_four(const Samples &s, const QuadConstants &, int row,
                                                   int sample, __half2 (&to)[4]) {
    const uint8_t *const u = advance(s.data[1], row, s.stride[1]) + sample;
    const uint8_t *const v = advance(s.data[2], row, s.stride[2]) + sample;
    const uint32_t us = load_word<uint16_t>(u + 1), vs = load_word<uint16_t>(v + 1);
    to[0] = biased(__ldg(u), __ldg(v));
    to[1] = biased(us & 0xff, vs & 0xff);
    to[2] = biased(us >> 8, vs >> 8);
    to[3] = biased(__ldg(u + 3), __ldg(v + 3));
  }
};

/// Reads the luma of the quad whose first pixel is (x, y). Repeats the last row, and reads no bytes
/// beyond the end of a row.
__device__ __forceinline__ void load_luma(const Samples &s, const QuadArgs &quads, int x, int y,
                                          uint32_t (&luma)[4]) {
  const uint8_t *at[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    at[i] = advance(s.data[0] + x, min(y + i, quads.height - 1), s.stride[0]);
  if (x + 4 <= quads.width) {
#pragma unroll
    for (int i = 0; i < 4; ++i) luma[i] = load_word<uint32_t>(at[i]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    luma[i] = 0;
#pragma unroll 1
    for (int k = 0; k < quads.width - x; ++k) luma[i] |= uint32_t{__ldg(at[i] + k)} << (8 * k);
  }
}

/// Reads the chroma samples around the quad. Repeats samples at the edges.
template <class F>
__device__ __forceinline__ void load_chroma(const Samples &s, const QuadArgs &quads,
                                            const QuadConstants &k, int x, int y,
                                            __half2 (&chroma)[4][4]) {
  const int left = x / 2 - 1, above = y / 2 - 1;
  int row[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) row[j] = min(max(above + j, quads.y.low), quads.y.high);
  if (left >= quads.x.low && left + 3 <= quads.x.high) {
#pragma unroll
    for (int j = 0; j < 4; ++j) QuadChroma<F>::load_four(s, k, row[j], left, chroma[j]);
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      chroma[j][i] =
          QuadChroma<F>::load(s, k, row[j], min(max(left + i, quads.x.low), quads.x.high));
}

template <class F>
__device__ __forceinline__ void load_quad(const Samples &s, const QuadArgs &quads,
                                          const QuadConstants &k, int x, int y, Quad &to) {
  load_luma(s, quads, x, y, to.luma);
  load_chroma<F>(s, quads, k, x, y, to.chroma);
}

/// Computes chroma less 128 of the four pixels of row `i`.
__device__ __forceinline__ void blend_chroma(const QuadArgs &quads, const __half2 (&chroma)[4][4],
                                             int i, __half2 (&out)[4]) {
  const auto bias = bit_cast<__half2>(0x64806480u);  // 1024 + 128
  __half2 column[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const __half2 above = chroma[pair(i)][k], below = chroma[pair(i) + 1][k];
    column[k] =
        __hfma2(bit_cast<__half2>(quads.y.weight[i]), __hsub2(below, above), __hsub2(above, bias));
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const __half2 left = column[pair(k)], right = column[pair(k) + 1];
    out[k] = __hfma2(bit_cast<__half2>(quads.x.weight[k]), __hsub2(right, left), left);
  }
}

/// Converts a row of a quad to RGB, rounded to bytes: one word per component.
__device__ __forceinline__ void convert_row(const YuvToRgb &k, uint32_t bias, uint32_t luma,
                                            const __half2 (&chroma)[4], uint32_t (&rgb)[3]) {
  int32_t c[4][3];
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    const float y = bit_cast<float>(__byte_perm(luma, bias, 0x7440 + x)) - kBias;
    const Pixel p = centered_yuv_to_rgb(k, y, __low2float(chroma[x]), __high2float(chroma[x]));
    c[x][0] = to_integer(p.c0);
    c[x][1] = to_integer(p.c1);
    c[x][2] = to_integer(p.c2);
  }
#pragma unroll
  for (int i = 0; i < 3; ++i)
    rgb[i] = pack_saturated(c[1][i], c[0][i], pack_saturated(c[3][i], c[2][i], 0));
}

}  // namespace cudatensor::cuda
