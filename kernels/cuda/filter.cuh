// SPDX-License-Identifier: LGPL-2.1-or-later
// The antialiased resize. A block computes a tile of the output, whose columns are the lanes of its
// warps. It converts the source pixels of the tile to bytes, filters them along x to words of four
// rows, and filters these along y. Each column and row of the output reads whole words of four source
// pixels, with weights of 0 for those that its window does not contain. A tile whose pixels do not
// fit into shared memory takes several rounds of rows and pieces of columns.
#pragma once

#include "kernels/cuda/filterargs.cuh"
#include "kernels/cuda/resampler.cuh"
#include "kernels/cuda/quads.cuh"

namespace cudatensor::cuda {

/// Source rows of a group: those of one word along y.
constexpr int kFilterRows = 4;

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

/// The bytes of four neighboring samples of each component.
template <int kComponents>
struct alignas(kComponents == 1 ? 4 : 16) SampleWord {
  uint32_t c[kComponents];
};

template <int kComponents>
__device__ __forceinline__ SampleWord<kComponents> load_shared(const SampleWord<kComponents> &at) {
  if constexpr (kComponents == 1) {
    return at;
  } else {
    const uint4 word = *reinterpret_cast<const uint4 *>(&at);
    return {{word.x, word.y, word.z}};
  }
}

template <int kComponents>
__device__ __forceinline__ void store_shared(SampleWord<kComponents> &at,
                                             const uint32_t (&c)[kComponents]) {
  if constexpr (kComponents == 1)
    at.c[0] = c[0];
  else
    *reinterpret_cast<uint4 *>(&at) = {c[0], c[1], c[2], 0};
}

/// The shared memory of a block, see shared_bytes().
template <int kComponents>
struct Shared {
  using Word = SampleWord<kComponents>;

  Word *pixels;     ///< of a piece: [group][row of the group][word]
  Word *filtered;   ///< columns of groups: [group][column], with four rows in a word
  int32_t *totals;  ///< of earlier pieces: [group][row of the group][component][column]
  int32_t *sums;    ///< of earlier rounds: [output row][component][column]

  __device__ __forceinline__ Shared(uint8_t *memory, const FilterShape &shape)
      : pixels(reinterpret_cast<Word *>(memory)),
        filtered(pixels + shape.groups * kFilterRows * shape.words),
        totals(reinterpret_cast<int32_t *>(filtered + shape.groups * kFilterTileWidth)),
        sums(totals +
             (shape.has_pieces ? shape.groups * kFilterRows * kComponents * kFilterTileWidth : 0)) {
  }
};

/// What a block computes: of the output, rows [row_begin, row_end); of the source, words along x and
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

__device__ __forceinline__ Tile make_tile(const FilterTables &tables, int tile_height, int width,
                                          int height) {
  const int begin = static_cast<int>(blockIdx.x) * kFilterTileWidth;
  Tile tile = {};
  tile.x = begin + static_cast<int>(threadIdx.x);
  tile.row_begin = static_cast<int>(blockIdx.y) * tile_height;
  tile.row_end = min(tile.row_begin + tile_height, height);
  tile.columns =
      all_spans(tables.x.spans, tables.x.content, begin, min(begin + kFilterTileWidth, width));
  tile.rows = all_spans(tables.y.spans, tables.y.content, tile.row_begin, tile.row_end);
  if (tile.columns.begin == tile.columns.end) tile.rows = {0, 0};
  tile.column = span_at(tables.x.spans, tables.x.content, tile.x);
  return tile;
}

/// Words along x and y that a block converts together.
struct Piece {
  FilterSpan columns, rows;

  __device__ __forceinline__ int width() const { return columns.end - columns.begin; }
  __device__ __forceinline__ int height() const { return rows.end - rows.begin; }
};

/// Converts source pixels in any format, one column of four rows at a time. `Converts` limits them
/// to 0..255.
template <class F, class Converts>
struct AnyPixels {
  static constexpr int kProduced = Converts::kProduced;
  using Word = SampleWord<kProduced>;

  static __device__ __forceinline__ void convert(const FilterArgs &args, const Piece &piece,
                                                 int words, Word *to) {
    using Sampler = Resampler<F, Converts, false>;
    const ResampleArgs &in = args.pixels;
    for (int group = static_cast<int>(threadIdx.y); group < piece.height();
         group += kFilterWarps) {
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
            reinterpret_cast<uint8_t *>(
                &to[(group * kFilterRows + i) * words + k / 4].c[c])[k % 4] =
                round_to_byte(component_of(p[i], c));
      }
    }
  }
};

/// Converts 4:2:0 in quads.
template <class F>
struct QuadPixels {
  static constexpr int kProduced = 3;
  using Word = SampleWord<kProduced>;

  static __device__ __forceinline__ void convert(const FilterArgs &in, const Piece &piece,
                                                 int words, Word *to) {
    const int width = piece.width(), count = width * piece.height();
    for (int q = static_cast<int>(threadIdx.y * 32 + threadIdx.x); q < count;
         q += 32 * kFilterWarps) {
      const int group = q / width, word = q - group * width;
      convert_quad(in, in.tables.x.base + 4 * (piece.columns.begin + word),
                   in.tables.y.base + kFilterRows * (piece.rows.begin + group),
                   to + group * kFilterRows * words + word, words);
    }
  }

 private:
  static __device__ __forceinline__ void convert_quad(const FilterArgs &in, int x, int y, Word *to,
                                                      int words) {
    uint32_t luma[4];
    __half2 chroma[4][4];
    load_luma(in.pixels.samples, in.quads, x, y, luma);
    load_chroma<F>(in.pixels.samples, in.quads, x, y, chroma);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      __half2 blended[4];
      uint32_t rgb[3];
      blend_chroma(in.quads, chroma, i, blended);
      convert_row(in.pixels.yuv_to_rgb, luma[i], blended, rgb);
      store_shared(to[i * words], rgb);
    }
  }
};

/// Adds the products of a piece of one group to `totals`.
template <int kComponents>
__device__ __forceinline__ void filter_piece(const FilterColumns &table, const Tile &tile,
                                             const FilterSpan &columns,
                                             const SampleWord<kComponents> *pixels, int words,
                                             int32_t (&totals)[kFilterRows][kComponents]) {
  const int from = max(columns.begin, tile.column.begin);
  const int count = min(columns.end, tile.column.end) - from;
  const WordWeights *weights =
      table.weights + static_cast<int64_t>(from - tile.column.begin) * table.step + tile.x;
  pixels += from - columns.begin;
  DigitSums sums[kFilterRows][kComponents];
  for (int k = 0; k < count; ++k, ++pixels, weights += table.step) {
    const WordWeights w = __ldg(weights);
#pragma unroll
    for (int i = 0; i < kFilterRows; ++i) {
      const SampleWord<kComponents> word = load_shared(pixels[i * words]);
#pragma unroll
      for (int c = 0; c < kComponents; ++c) sums[i][c].add(word.c[c], w);
    }
  }
#pragma unroll
  for (int i = 0; i < kFilterRows; ++i)
    for (int c = 0; c < kComponents; ++c) totals[i][c] += sums[i][c].total();
}

/// Filters the groups of a piece along x. The results of the last piece are complete.
template <int kComponents>
__device__ __forceinline__ void filter_columns(const FilterColumns &table, const Tile &tile,
                                               const Piece &piece, const FilterShape &shape,
                                               const Shared<kComponents> &shared) {
  const auto lane = static_cast<int>(threadIdx.x);
  const bool is_first = piece.columns.begin == tile.columns.begin;
  const bool is_last = piece.columns.end == tile.columns.end;
  for (int group = static_cast<int>(threadIdx.y); group < piece.height(); group += kFilterWarps) {
    int32_t *const before =
        shared.totals + group * kFilterRows * kComponents * kFilterTileWidth + lane;
    int32_t totals[kFilterRows][kComponents];
#pragma unroll
    for (int i = 0; i < kFilterRows; ++i)
      for (int c = 0; c < kComponents; ++c)
        totals[i][c] =
            is_first ? kFilterHalf : before[(i * kComponents + c) * kFilterTileWidth];
    filter_piece<kComponents>(table, tile, piece.columns,
                              shared.pixels + group * kFilterRows * shape.words, shape.words,
                              totals);
    uint32_t packed[kComponents];
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      packed[c] = pack_saturated(
          totals[1][c] >> kFilterBits, totals[0][c] >> kFilterBits,
          pack_saturated(totals[3][c] >> kFilterBits, totals[2][c] >> kFilterBits, 0));
    }
    if (is_last) {
      store_shared(shared.filtered[group * kFilterTileWidth + lane], packed);
      continue;
    }
#pragma unroll
    for (int i = 0; i < kFilterRows; ++i)
      for (int c = 0; c < kComponents; ++c)
        before[(i * kComponents + c) * kFilterTileWidth] = totals[i][c];
  }
}

/// Adds the products of a round's words along y to `sum`.
template <int kComponents>
__device__ __forceinline__ void filter_rows(const FilterLines &table, int y,
                                            const FilterSpan &rows,
                                            const SampleWord<kComponents> *filtered,
                                            int32_t (&sum)[kComponents]) {
  const FilterSpan span = span_at(table.spans, table.content, y);
  const int from = max(rows.begin, span.begin), count = min(rows.end, span.end) - from;
  if (count <= 0) return;
  const WordWeights *weights = table.weights + __ldg(table.first + y) + (from - span.begin);
  filtered += (from - rows.begin) * kFilterTileWidth + threadIdx.x;
  DigitSums sums[kComponents];
  for (int k = 0; k < count; ++k, ++weights, filtered += kFilterTileWidth) {
    const WordWeights w = __ldg(weights);
    const SampleWord<kComponents> word = load_shared(*filtered);
#pragma unroll
    for (int c = 0; c < kComponents; ++c) sums[c].add(word.c[c], w);
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

/// Filters a round along y. Rows of the output are stored after the last round.
template <int kComponents>
__device__ __forceinline__ void filter_round(const FilterArgs &in, const FilterOut &out,
                                             const Tile &tile, const FilterSpan &rows, int width,
                                             const Shared<kComponents> &shared) {
  const bool is_first = rows.begin == tile.rows.begin, is_last = rows.end == tile.rows.end;
  for (int y = tile.row_begin + static_cast<int>(threadIdx.y); y < tile.row_end;
       y += kFilterWarps) {
    int32_t *const before =
        shared.sums + (y - tile.row_begin) * kComponents * kFilterTileWidth + threadIdx.x;
    int32_t sum[kComponents];
#pragma unroll
    for (int c = 0; c < kComponents; ++c)
      sum[c] = is_first ? kFilterHalf : before[c * kFilterTileWidth];
    filter_rows<kComponents>(in.tables.y, y, rows, shared.filtered, sum);
    if (!is_last) {
#pragma unroll
      for (int c = 0; c < kComponents; ++c) before[c * kFilterTileWidth] = sum[c];
    } else if (tile.x < width) {
      const bool is_pad =
          !contains(in.tables.x.content, tile.x) || !contains(in.tables.y.content, y);
      store_pixel<kComponents>(in, out, tile.x, y, is_pad, sum);
    }
  }
}

template <class Pixels, int kFrames>
__global__ void __launch_bounds__(32 * kFilterWarps, kFilterBlocksPerSm)
    filter(const __grid_constant__ PixelWork<FilterArgs, FilterOut, kFrames> work,
           const __grid_constant__ FilterShape shape) {
  constexpr int kComponents = Pixels::kProduced;
  extern __shared__ __align__(16) uint8_t memory[];
  const Shared<kComponents> shared(memory, shape);
  const FilterArgs &in = work.in[kFrames == 1 ? 0 : blockIdx.z];
  const Tile tile = make_tile(in.tables, shape.tile_height, work.width, work.height);
  wait_for_previous_kernel();

  // A tile of nothing but pad has one round without rows.
  int begin = tile.rows.begin;
  do {
    Piece piece = {{0, 0}, {begin, min(begin + shape.groups, tile.rows.end)}};
    for (int x = tile.columns.begin; x < tile.columns.end; x += shape.words) {
      piece.columns = {x, min(x + shape.words, tile.columns.end)};
      Pixels::convert(in, piece, shape.words, shared.pixels);
      __syncthreads();
      filter_columns<kComponents>(in.tables.x, tile, piece, shape, shared);
      __syncthreads();
    }
    filter_round<kComponents>(in, work.out, tile, piece.rows, work.width, shared);
    begin = piece.rows.end;
  } while (begin < tile.rows.end);
}

}  // namespace cudatensor::cuda
