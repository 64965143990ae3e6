// SPDX-License-Identifier: LGPL-2.1-or-later
// The antialiased resize. A block computes a tile of the output, whose columns are the lanes of its
// warps. It converts the source pixels of the tile to bytes, filters them along x to words of four
// rows, and filters these along y. Each column and row of the output reads whole words of four source
// pixels, with weights of 0 for those that its window does not contain. A tile whose pixels do not
// fit into shared memory takes several rounds of rows and pieces of columns.
#pragma once

#include "kernels/cuda/filterpixels.cuh"

namespace cudatensor::cuda {

/// Eight columns of the output, from `x` on.
struct ColumnProduct {
  int x;
  FilterSpan words;  // of all columns
  Window window;     // of the lane's column

  __device__ __forceinline__ ColumnProduct(const FilterTables &tables, int x)
      : x(x),
        words(product_span(tables, x)),
        window(span_at(tables.x.spans, tables.x.content, x + lane_row()),
               tables.x.weights + x + lane_row(), tables.x.step) {}
};

/// Filters 16 rows of a piece along x. `row` is the first one in shared memory.
template <int kComponents>
__device__ __forceinline__ void filter_product(const ColumnProduct &product,
                                               const FilterSpan &piece, int row,
                                               const Shared<kComponents> &shared,
                                               DigitSums (&sums)[kComponents]) {
  // A step is in the first piece that contains it whole. Pieces overlap by a step less one word.
  int word = product.words.begin;
  if (word < piece.begin) word += whole_steps(piece.begin - word);
  const uint32_t *samples = shared.pixel(0, row + 2 * lane_row(), word - piece.begin + lane_word());
  const int plane = shared.rows * shared.pitch;
  for (; word < product.words.end && word + kWordsOfProduct <= piece.end;
       word += kWordsOfProduct, samples += kWordsOfProduct) {
    const WordWeights first = product.window.at(word + lane_word());
    const WordWeights second = product.window.at(word + 4 + lane_word());
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      // Rows of the product are in the order in which a lane has two neighbors.
      const uint32_t *const even = samples + c * plane, *const odd = even + shared.pitch;
      const uint32_t a[4] = {even[0], odd[0], even[4], odd[4]};
#pragma unroll
      for (int digit = 0; digit < 3; ++digit) {
        const uint32_t b[2] = {digit_of(first, digit), digit_of(second, digit)};
        multiply<false>(a, b, sums[c].sum[digit]);
      }
    }
  }
}

/// Stores the results of a product along x, as halves of words of four rows.
template <int kComponents>
__device__ __forceinline__ void store_filtered(const Shared<kComponents> &shared, int row,
                                               int column, const int32_t (&total)[kComponents][4]) {
#pragma unroll
  for (int c = 0; c < kComponents; ++c) {
    auto *const to = reinterpret_cast<uint16_t *>(
                         shared.column(c, (row + 2 * lane_row()) / 4, column + 2 * lane_word())) +
                     lane_row() % 2;
#pragma unroll
    for (int k = 0; k < 2; ++k)
      to[2 * k] = static_cast<uint16_t>(
          pack_saturated(total[c][2 + k] >> kFilterBits, total[c][k] >> kFilterBits, 0));
  }
}

/// Adds the totals of earlier pieces or rounds, and keeps the sums for later ones. `kept` is of this
/// lane.
__device__ __forceinline__ void carry(int32_t *kept, bool is_first, int32_t (&total)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (!is_first) total[i] += kept[i * 32] - kFilterHalf;
    kept[i * 32] = total[i];
  }
}

/// Filters the groups of a piece along x. The results of the last piece are complete.
template <int kComponents>
__device__ __forceinline__ void filter_columns(const FilterTables &tables, const Tile &tile,
                                               const Piece &piece, const FilterShape &shape,
                                               const Shared<kComponents> &shared) {
  static_assert(kFilterWarps % kProductsOfTile == 0, "a warp has the same columns in all tasks");
  const auto warp = static_cast<int>(threadIdx.y);
  const FilterSpan columns = {piece.columns.begin, piece.columns.begin + shape.words};
  const int tasks = (piece.height() + 3) / 4 * kProductsOfTile;
  const int column = warp % kProductsOfTile * kColumnsOfProduct;
  const ColumnProduct product(tables, tile.x + column);
  for (int task = warp; task < tasks; task += kFilterWarps) {
    const int row = task / kProductsOfTile * kRowsOfProduct;
    DigitSums sums[kComponents];
#pragma unroll
    for (int c = 0; c < kComponents; ++c) sums[c] = DigitSums(kFilterHalf);
    filter_product<kComponents>(product, columns, row, shared, sums);
    int32_t total[kComponents][4];
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) total[c][i] = sums[c].total(i);
      if (shape.has_pieces)
        carry(shared.totals + (task * kComponents + c) * kSumsOfProduct + threadIdx.x,
              piece.columns.begin == tile.columns.begin, total[c]);
    }
    if (columns.end >= tile.products_end) store_filtered<kComponents>(shared, row, column, total);
  }
}

/// The weights of the rows of a lane, which are eight apart.
struct RowProduct {
  Window first, second;

  __device__ __forceinline__ RowProduct(const FilterLines &table, const Tile &tile)
      : first(window(table, tile, tile.row_begin + lane_row())),
        second(window(table, tile, tile.row_begin + lane_row() + 8)) {}

 private:
  static __device__ __forceinline__ Window window(const FilterLines &table, const Tile &tile,
                                                  int y) {
    if (y >= tile.row_end || !contains(table.content, y)) return {{0, 0}, table.weights, 1};
    return {span_at(table.spans, table.content, y), table.weights + __ldg(table.first + y), 1};
  }
};

/// Filters a round along y, for 8 columns of component `c` from `column` on.
template <int kComponents>
__device__ __forceinline__ void filter_rows(const RowProduct &product, const FilterSpan &rows,
                                            int c, int column, const Shared<kComponents> &shared,
                                            DigitSums &sums) {
  const uint32_t *samples = shared.column(c, lane_word(), column + lane_row());
  for (int group = rows.begin; group < rows.end;
       group += kWordsOfProduct, samples += kWordsOfProduct * kFilteredPitch) {
    const uint32_t b[2] = {samples[0], samples[4 * kFilteredPitch]};
    const WordWeights w[4] = {
        product.first.at(group + lane_word()), product.second.at(group + lane_word()),
        product.first.at(group + 4 + lane_word()), product.second.at(group + 4 + lane_word())};
#pragma unroll
    for (int digit = 0; digit < 3; ++digit) {
      const uint32_t a[4] = {digit_of(w[0], digit), digit_of(w[1], digit), digit_of(w[2], digit),
                             digit_of(w[3], digit)};
      multiply<true>(a, b, sums.sum[digit]);
    }
  }
}

/// Where the four values of a lane go: columns x and x + 1 of rows y and y + 8.
struct Places {
  int x, y;
  bool inside;    // the whole tile is inside the output, and none of it is pad
  bool shown[4];  // unless inside: whether a value is inside the output …
  bool pad[4];    // … and whether it is pad
};

template <class T>
__device__ __forceinline__ void store_values(const FilterOut &out, int c, const Places &to,
                                             const float (&value)[4]) {
  uint8_t *at =
      advance(advance(out.data + blockIdx.z * out.frame + out.channel[c], to.y, out.row[c]), to.x,
              out.pixel);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint8_t *const place = (i < 2 ? at : advance(at, 8, out.row[c])) + i % 2 * out.pixel;
    if (to.inside || to.shown[i])
      store_global(reinterpret_cast<T *>(place), to_element<T>(value[i]));
  }
}

/// The padding bytes of a picture's pixels.
__device__ __noinline__ void store_opaque(const FilterOut &out, const Places &to) {
  for (int i = 0; i < 4; ++i)
    if (to.inside || to.shown[i])
      store_global(
          advance(advance(out.data, to.y + i / 2 * 8, out.row[0]), to.x + i % 2, out.pixel) +
              out.opaque,
          static_cast<uint8_t>(255));
}

__device__ __forceinline__ void store(const FilterArgs &in, const FilterOut &out, const Places &to,
                                      int c, const int32_t (&total)[4]) {
  float value[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    value[i] = normalize(out.scale[c], value_of(int32_t{filtered_sample(total[i])}));
  if (!to.inside) {
    const float pad = out.pad_is_zero ? 0.0f : normalize(out.scale[c], in.pixels.pad[c]);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (to.pad[i]) value[i] = pad;
  }
  switch (out.dtype) {
    case DType::float32: store_values<float>(out, c, to, value); break;
    case DType::float16: store_values<Half>(out, c, to, value); break;
    case DType::uint8: store_values<uint8_t>(out, c, to, value); break;
    case DType::int8: store_values<int8_t>(out, c, to, value); break;
  }
  if (c == 0 && out.opaque >= 0) store_opaque(out, to);
}

__device__ __forceinline__ Places places_of(const FilterTables &tables, const Tile &tile, int width,
                                            int column) {
  Places to = {tile.x + column + 2 * lane_word(), tile.row_begin + lane_row(), true, {}, {}};
  const int right = tile.x + kFilterTileWidth, bottom = tile.row_begin + kRowsOfProduct;
  const int2 x = tables.x.content, y = tables.y.content;
  to.inside = tile.x >= x.x && right <= min(x.y, width) && tile.row_begin >= y.x &&
              bottom <= min(y.y, tile.row_end);
  if (to.inside) return to;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int column_of = to.x + i % 2, row = to.y + i / 2 * 8;
    to.shown[i] = column_of < width && row < tile.row_end;
    to.pad[i] = !contains(x, column_of) || !contains(y, row);
  }
  return to;
}

/// Filters a round along y. The output is stored after the last round.
template <int kComponents>
__device__ __forceinline__ void filter_round(const FilterArgs &in, const FilterOut &out,
                                             const Tile &tile, const FilterSpan &rows, int width,
                                             const FilterShape &shape,
                                             const Shared<kComponents> &shared) {
  const auto warp = static_cast<int>(threadIdx.y);
  const int column = warp % kProductsOfTile * kColumnsOfProduct;
  const RowProduct product(in.tables.y, tile);
  const Places to = places_of(in.tables, tile, width, column);
  for (int task = warp; task < kComponents * kProductsOfTile; task += kFilterWarps) {
    const int c = task / kProductsOfTile;
    DigitSums sums(kFilterHalf);
    filter_rows<kComponents>(product, rows, c, column, shared, sums);
    int32_t total[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) total[i] = sums.total(i);
    if (shape.has_rounds)
      carry(shared.sums + task * kSumsOfProduct + threadIdx.x, rows.begin == tile.rows.begin,
            total);
    if (rows.end == tile.rows.end) store(in, out, to, c, total);
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
    for (int x = tile.columns.begin, end = x; end < tile.products_end;
         x += shape.words - (kWordsOfProduct - 1)) {
      end = x + shape.words;
      piece.columns = {x, min(end, tile.columns.end)};
      Pixels::convert(in, piece, shared);
      __syncthreads();
      filter_columns<kComponents>(in.tables, tile, piece, shape, shared);
      __syncthreads();
    }
    filter_round<kComponents>(in, work.out, tile, piece.rows, work.width, shape, shared);
    begin = piece.rows.end;
  } while (begin < tile.rows.end);
}

}  // namespace cudatensor::cuda
