// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts source pixels to bytes in shared memory, for the kernel of antialiased resizes.
#pragma once

#include "kernels/cuda/filterargs.cuh"
#include "kernels/cuda/filtertile.cuh"
#include "kernels/cuda/quads.cuh"
#include "kernels/cuda/resampler.cuh"

namespace cudatensor::cuda {

/// Converts source pixels in any format, one column of four rows at a time. `Converts` limits them
/// to 0..255.
template <class F, class Converts>
struct AnyPixels {
  static constexpr int kProduced = Converts::kProduced;

  static __device__ __forceinline__ void convert(const FilterArgs &args, const Piece &piece,
                                                 const Shared<kProduced> &to) {
    using Sampler = Resampler<F, Converts>;
    const ResampleArgs &in = args.pixels;
    for (int group = static_cast<int>(threadIdx.y); group < piece.height();
         group += static_cast<int>(blockDim.y)) {
      const int row = kFilterRows * (piece.rows.begin + group);
      typename Sampler::Line lines[kFilterRows];
      Sampler::lines(in, row, lines);
      for (int k = static_cast<int>(threadIdx.x); k < 4 * piece.width(); k += 32) {
        typename Sampler::Column column[1];
        Sampler::columns(in, 4 * piece.columns.begin + k, column);
        Pixel p[kFilterRows];
        Sampler::template sample<kFilterRows>(in, 4 * piece.columns.begin + k, row, column[0],
                                              lines, p);
#pragma unroll
        for (int i = 0; i < kFilterRows; ++i)
          for (int c = 0; c < kProduced; ++c)
            reinterpret_cast<uint8_t *>(to.pixel(c, group * kFilterRows + i, 0))[k] =
                round_to_byte(component_of(p[i], c));
      }
    }
  }
};

/// Converts 4:2:0 in quads.
template <class F>
struct QuadPixels {
  static constexpr int kProduced = 3;

  static __device__ __forceinline__ void convert(const FilterArgs &in, const Piece &piece,
                                                 const Shared<kProduced> &to) {
    const uint32_t width = piece.width(), count = width * piece.height();
    // The reciprocal is rounded up, so that the high half of a product with it is the quotient:
    // count is below 2^16.
    const QuadConstants constants(in.quads);
    const uint32_t reciprocal = 0xffffffffu / width + 1;
    for (uint32_t q = threadIdx.y * 32 + threadIdx.x; q < count; q += 32 * blockDim.y) {
      const uint32_t group = width == 1 ? q : __umulhi(q, reciprocal), word = q - group * width;
      convert_quad(in, constants, in.tables.x.base + 4 * (piece.columns.begin + word),
                   in.tables.y.base + kFilterRows * (piece.rows.begin + group),
                   to.pixel(0, group * kFilterRows, word), to);
    }
  }

 private:
  static __device__ __forceinline__ void convert_quad(const FilterArgs &in,
                                                      const QuadConstants &constants, int x, int y,
                                                      uint32_t *to,
                                                      const Shared<kProduced> &shared) {
    Quad quad;
    load_quad<F>(in.pixels.samples, in.quads, constants, x, y, quad);
    const int plane = shared.rows * shared.pitch;
#pragma unroll
    for (int i = 0; i < 4; ++i, to += shared.pitch) {
      __half2 blended[4];
      uint32_t rgb[3];
      blend_chroma(in.quads, quad.chroma, i, blended);
      convert_row(in.pixels.yuv_to_rgb, constants.bias, quad.luma[i], blended, rgb);
#pragma unroll
      for (int c = 0; c < 3; ++c) to[c * plane] = rgb[c];
    }
  }
};

}  // namespace cudatensor::cuda
