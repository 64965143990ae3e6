// SPDX-License-Identifier: LGPL-2.1-or-later
// The antialiased resize. A block computes a tile of the output, whose columns are the lanes of its
// warps. In each round, every warp converts kFilterRows rows of source pixels to bytes, filters them
// along x and stores the results of a column in one word; then the warps filter these words along
// y. Each column and row of the output reads whole words of four source pixels, with weights of 0 for
// those that its window does not contain.
#pragma once

#include "kernels/cuda/filterargs.cuh"
#include "kernels/cuda/resampler.cuh"
#include "kernels/cuda/unscaled.cuh"

namespace cudatensor::cuda {

/// Source rows that a warp filters together: those of one word along y.
constexpr int kFilterRows = 4;
constexpr int kTileWidth = 32;

/// A product of four samples with four digits, added to a sum.
__device__ __forceinline__ int32_t add_products(uint32_t samples, uint32_t digits, int32_t sum) {
  int32_t result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(samples), "r"(digits), "r"(sum));
  return result;
}

/// Sums of products, by digit of the weights.
struct DigitSums {
  int32_t sum[3] = {};

  __device__ __forceinline__ void add(uint32_t samples, const uint4 &weights) {
    sum[0] = add_products(samples, weights.x, sum[0]);
    sum[1] = add_products(samples, weights.y, sum[1]);
    sum[2] = add_products(samples, weights.z, sum[2]);
  }
  __device__ __forceinline__ int32_t total() const {
    return (sum[2] << 16) + (sum[1] << 8) + sum[0];
  }
};

/// A piece of kFilterRows rows of source pixels in shared memory, four pixels to a word.
template <int kComponents>
struct PixelRows {
  uint32_t words[kFilterRows][kComponents][kFilterPieceWords];
};

/// Converts source pixels in any format, one column at a time. `Converts` limits them to 0..255.
template <class F, class Converts>
struct AnyPixels {
  static constexpr int kProduced = Converts::kProduced;

  /// Pixels of the words [begin, end) of a row, and of the rows from `row` on.
  static __device__ __forceinline__ void convert(const ResampleArgs &in, int begin, int end,
                                                 int row, int lane, PixelRows<kProduced> &to) {
    using Sampler = Resampler<F, Converts, false>;
    typename Sampler::Line lines[kFilterRows];
    Sampler::lines(in, row, lines);
    for (int x = 4 * begin + lane; x < 4 * end; x += 32) {
      typename Sampler::Column column[1];
      Sampler::columns(in, x, column);
      Pixel p[kFilterRows];
      Sampler::template sample<kFilterRows>(in, x, row, column[0], lines, p);
#pragma unroll
      for (int i = 0; i < kFilterRows; ++i)
        for (int c = 0; c < kProduced; ++c)
          reinterpret_cast<uint8_t *>(to.words[i][c])[x - 4 * begin] =
              round_to_byte(component_of(p[i], c));
    }
  }
};

/// Converts 4:2:0 in quads. `F` and `Converts` are those of Unscaled.
template <class F, class Converts>
struct QuadPixels {
  static constexpr int kProduced = Converts::kProduced;
  static_assert(kQuad == kFilterRows);

  static __device__ __forceinline__ void convert(const ResampleArgs &in, int begin, int end,
                                                 int row, int lane, PixelRows<kProduced> &to) {
    using Patch = typename Unscaled<F, Converts>::template Patch<kQuad, kQuad>;
    for (int word = begin + lane; word < end; word += 32) {
      Patch patch(in, kQuad * word, row);
      patch.read();
      uint32_t packed[kQuad][kProduced];
      add<2, 0>(patch, packed);
      add<0, 1>(patch, packed);
#pragma unroll
      for (int i = 0; i < kQuad; ++i)
        for (int c = 0; c < kProduced; ++c) to.words[i][c][word - begin] = packed[i][c];
    }
  }

 private:
  /// Columns k and k + 1. With `kSecond`, what is there are columns 2 and 3, in the lower half.
  template <int k, bool kSecond, class Patch>
  static __device__ __forceinline__ void add(const Patch &patch,
                                             uint32_t (&packed)[kQuad][kProduced]) {
    Pixel left[kQuad], right[kQuad];
    patch.column(k, left);
    patch.column(k + 1, right);
#pragma unroll
    for (int i = 0; i < kQuad; ++i)
      for (int c = 0; c < kProduced; ++c)
        packed[i][c] = pack_saturated(to_integer(component_of(right[i], c)),
                                      to_integer(component_of(left[i], c)),
                                      kSecond ? packed[i][c] : 0);
  }
};

/// What a block computes. Of the output, rows [row_begin, row_end); of the source, words along x and
/// y.
struct Tile {
  int x, row_begin, row_end;
  FilterSpan columns, rows;
  FilterSpan column;  // of the thread's own column
};

__device__ __forceinline__ bool contains(const int2 &range, int k) {
  return k >= range.x && k < range.y;
}

__device__ __forceinline__ FilterSpan span_at(const int2 *spans, const int2 &content, int k) {
  if (!contains(content, k)) return {0, 0};
  const int2 span = __ldg(spans + k);
  return {span.x, span.y};
}

/// Of the output coordinates [begin, end).
__device__ __forceinline__ FilterSpan all_spans(const int2 *spans, const int2 &content, int begin,
                                                int end) {
  begin = max(begin, content.x);
  end = min(end, content.y);
  if (begin >= end) return {0, 0};
  return {__ldg(&spans[begin].x), __ldg(&spans[end - 1].y)};
}

template <int kTileHeight>
__device__ __forceinline__ Tile make_tile(const FilterTables &tables, int width, int height) {
  const int begin = static_cast<int>(blockIdx.x) * kTileWidth;
  Tile tile = {};
  tile.x = begin + static_cast<int>(threadIdx.x);
  tile.row_begin = static_cast<int>(blockIdx.y) * kTileHeight;
  tile.row_end = min(tile.row_begin + kTileHeight, height);
  tile.columns =
      all_spans(tables.x.spans, tables.x.content, begin, min(begin + kTileWidth, width));
  tile.rows = all_spans(tables.y.spans, tables.y.content, tile.row_begin, tile.row_end);
  if (tile.columns.begin == tile.columns.end) tile.rows = {0, 0};
  tile.column = span_at(tables.x.spans, tables.x.content, tile.x);
  return tile;
}

/// The shared memory of a warp.
template <int kComponents>
struct WarpMemory {
  PixelRows<kComponents> piece;
  /// Of the pieces before, if rows have several.
  int32_t totals[kFilterRows][kComponents][kTileWidth];
};

/// Adds the products of a piece that begins at word `begin` to `totals`.
template <int kComponents>
__device__ __forceinline__ void filter_piece(const FilterColumns &table, const Tile &tile,
                                             int begin, int end,
                                             const PixelRows<kComponents> &piece,
                                             int32_t (&totals)[kFilterRows][kComponents]) {
  const int from = max(begin, tile.column.begin), to = min(end, tile.column.end);
  const WordWeights *weights =
      table.weights + static_cast<int64_t>(from - tile.column.begin) * table.step + tile.x;
  DigitSums sums[kFilterRows][kComponents];
  for (int k = from; k < to; ++k, weights += table.step) {
    const WordWeights w = __ldg(weights);
#pragma unroll
    for (int i = 0; i < kFilterRows; ++i)
      for (int c = 0; c < kComponents; ++c) sums[i][c].add(piece.words[i][c][k - begin], w);
  }
#pragma unroll
  for (int i = 0; i < kFilterRows; ++i)
    for (int c = 0; c < kComponents; ++c) totals[i][c] += sums[i][c].total();
}

/// Filters the rows of word `row` along x to the thread's column.
template <class Pixels>
__device__ __forceinline__ void filter_columns(const FilterArgs &in, const Tile &tile, int row,
                                               WarpMemory<Pixels::kProduced> &memory,
                                               uint32_t (&out)[Pixels::kProduced]) {
  constexpr int kComponents = Pixels::kProduced;
  const auto lane = static_cast<int>(threadIdx.x);
  for (int begin = tile.columns.begin;; begin += kFilterPieceWords) {
    const int end = min(begin + kFilterPieceWords, tile.columns.end);
    Pixels::convert(in.pixels, begin, end, kFilterRows * row, lane, memory.piece);
    __syncwarp();
    int32_t totals[kFilterRows][kComponents];
#pragma unroll
    for (int i = 0; i < kFilterRows; ++i)
      for (int c = 0; c < kComponents; ++c)
        totals[i][c] = begin == tile.columns.begin ? kFilterHalf : memory.totals[i][c][lane];
    filter_piece<kComponents>(in.tables.x, tile, begin, end, memory.piece, totals);
    __syncwarp();
    if (end == tile.columns.end) {
#pragma unroll
      for (int c = 0; c < kComponents; ++c)
        out[c] = pack_saturated(totals[1][c] >> kFilterBits, totals[0][c] >> kFilterBits,
                                pack_saturated(totals[3][c] >> kFilterBits,
                                               totals[2][c] >> kFilterBits, 0));
      return;
    }
    // Not in registers, of which the conversion of the next piece needs most.
#pragma unroll
    for (int i = 0; i < kFilterRows; ++i)
      for (int c = 0; c < kComponents; ++c) memory.totals[i][c][lane] = totals[i][c];
  }
}

/// Adds the products of the words [begin, end) along y, which are in `filtered`, to `sum`.
template <int kComponents>
__device__ __forceinline__ void filter_rows(const FilterLines &table, int y, int begin, int end,
                                            const uint32_t (*filtered)[kComponents][kTileWidth],
                                            int32_t (&sum)[kComponents]) {
  const FilterSpan span = span_at(table.spans, table.content, y);
  const int from = max(begin, span.begin), to = min(end, span.end);
  if (from >= to) return;
  const WordWeights *weights = table.weights + __ldg(table.first + y) + (from - span.begin);
  DigitSums sums[kComponents];
  for (int k = from; k < to; ++k, ++weights) {
    const WordWeights w = __ldg(weights);
#pragma unroll
    for (int c = 0; c < kComponents; ++c) sums[c].add(filtered[k - begin][c][threadIdx.x], w);
  }
#pragma unroll
  for (int c = 0; c < kComponents; ++c) sum[c] += sums[c].total();
}

/// Stores one element of a tensor or sample of a picture.
__device__ __forceinline__ void store_element(uint8_t *at, DType dtype, float value) {
  switch (dtype) {
    case DType::float32: store_global(reinterpret_cast<float *>(at), value); break;
    case DType::float16: store_global(reinterpret_cast<Half *>(at), to_half(value)); break;
    case DType::uint8: store_global(at, to_element<uint8_t>(value)); break;
    case DType::int8:
      store_global(reinterpret_cast<int8_t *>(at), to_element<int8_t>(value));
      break;
  }
}

template <int kComponents>
__device__ __forceinline__ void store_pixel(const FilterArgs &in, const FilterOut &out, int x,
                                            int y, bool is_pad, const int32_t (&sum)[kComponents]) {
  uint8_t *const frame = advance(out.data + blockIdx.z * out.frame, x, out.pixel);
#pragma unroll
  for (int c = 0; c < kComponents; ++c) {
    const float sample = is_pad ? in.pixels.pad[c] : static_cast<float>(filtered_sample(sum[c]));
    float value = normalize(out.scale[c], sample);
    if (is_pad && out.pad_is_zero) value = 0.0f;
    store_element(advance(frame + out.channel[c], y, out.row[c]), out.dtype, value);
  }
  // The components of a packed pixel lie around the padding byte of the same pixel.
  if (out.opaque >= 0)
    store_global(advance(frame, y, out.row[0]) + out.opaque, static_cast<uint8_t>(255));
}

template <class Pixels, int kFrames, int kTileHeight>
__global__ void __launch_bounds__(32 * kFilterWarps, kFilterBlocksPerSm)
    filter(const __grid_constant__ PixelWork<FilterArgs, FilterOut, kFrames> work) {
  constexpr int kComponents = Pixels::kProduced;
  constexpr int kOutputs = (kTileHeight + kFilterWarps - 1) / kFilterWarps;
  __shared__ WarpMemory<kComponents> memory[kFilterWarps];
  __shared__ uint32_t filtered[2][kFilterWarps][kComponents][kTileWidth];
  const FilterArgs &in = work.in[kFrames == 1 ? 0 : blockIdx.z];
  const Tile tile = make_tile<kTileHeight>(in.tables, work.width, work.height);
  const int warp = static_cast<int>(threadIdx.y), first = tile.row_begin + warp;
  int32_t sum[kOutputs][kComponents];
#pragma unroll
  for (int i = 0; i < kOutputs; ++i)
    for (int c = 0; c < kComponents; ++c) sum[i][c] = kFilterHalf;
  wait_for_previous_kernel();

  for (int begin = tile.rows.begin, half = 0; begin < tile.rows.end;
       begin += kFilterWarps, half ^= 1) {
    if (begin + warp < tile.rows.end) {
      uint32_t packed[kComponents];
      filter_columns<Pixels>(in, tile, begin + warp, memory[warp], packed);
#pragma unroll
      for (int c = 0; c < kComponents; ++c) filtered[half][warp][c][threadIdx.x] = packed[c];
    }
    // The other half is written only after all warps have come here again.
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      if (first + i * kFilterWarps < tile.row_end)
        filter_rows<kComponents>(in.tables.y, first + i * kFilterWarps, begin,
                                 begin + kFilterWarps, filtered[half], sum[i]);
  }

  if (tile.x >= work.width) return;
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
    const int y = first + i * kFilterWarps;
    if (y >= tile.row_end) return;
    const bool is_pad =
        !contains(in.tables.x.content, tile.x) || !contains(in.tables.y.content, y);
    store_pixel<kComponents>(in, work.out, tile.x, y, is_pad, sum[i]);
  }
}

}  // namespace cudatensor::cuda
