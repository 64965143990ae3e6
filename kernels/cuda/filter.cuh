// SPDX-License-Identifier: LGPL-2.1-or-later
// The antialiased resize. A block computes a tile of the output, piece by piece: it converts source
// pixels of the tile to bytes and filters them along x to words of four rows. Then it filters these
// words along y. Each column and row of the output reads whole words of four source pixels; pixels
// outside its window have the weight 0. A tile whose pixels do not fit into shared memory takes
// several rounds of rows and pieces of columns.
#pragma once

#include "kernels/cuda/filterpixels.cuh"

namespace cudatensor::cuda {

/// The words and weights of eight output columns, from `x` on.
struct ColumnProduct {
  FilterSpan words;  // words of all columns
  Window window;     // weights of the lane's column

  __device__ __forceinline__ ColumnProduct(const FilterColumns &table, int x)
      : words(load_span(table.products + x / kColumnsOfProduct)),
        window(table, min(x + lane_row(), table.count - 1)) {}
};

/// Filters 16 rows of a piece along x. `row` is the first of them in shared memory.
template <int kComponents>
__device__ __forceinline__ void filter_product(const ColumnProduct &product,
                                               const FilterSpan &piece, int row,
                                               const Shared<kComponents> &shared,
                                               DigitSums (&sums)[kComponents]) {
  // A step belongs to the first piece that contains all its words. Pieces overlap by one word less
  // than a step.
  int word = product.words.begin;
  if (word < piece.begin) word += whole_steps(piece.begin - word);
  const uint32_t *samples = shared.pixel(0, row + 2 * lane_row(), word - piece.begin + lane_word());
  const int plane = shared.rows * shared.pitch;
#pragma unroll 1
  for (; word < product.words.end && word + kWordsOfProduct <= piece.end;
       word += kWordsOfProduct, samples += kWordsOfProduct) {
    const WordWeights first = product.window.at(word + lane_word());
    const WordWeights second = product.window.at(word + 4 + lane_word());
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      // The rows of the product are ordered so that a lane has two neighbors.
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
  auto *to = reinterpret_cast<uint16_t *>(
                 shared.column(0, row / 4 + lane_row() / 2, column + 2 * lane_word())) +
             lane_row() % 2;
#pragma unroll
  for (int c = 0; c < kComponents; ++c, to += 2 * shared.groups * kFilteredPitch) {
#pragma unroll
    for (int k = 0; k < 2; ++k)
      to[2 * k] = static_cast<uint16_t>(
          pack_saturated(total[c][2 + k] >> kFilterBits, total[c][k] >> kFilterBits, 0));
  }
}

/// Adds the totals of earlier pieces or rounds to `total`, and keeps the sums for later ones in
/// `kept`, the memory of this lane.
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
  // A warp has the same columns in all tasks, because blocks have a multiple of kProductsOfTile warps.
  const auto warp = static_cast<int>(threadIdx.y);
  const FilterSpan columns = {piece.columns.begin, piece.columns.begin + shape.words};
  const int tasks = (piece.height() + 3) / 4 * kProductsOfTile;
  const int column = warp % kProductsOfTile * kColumnsOfProduct;
  const ColumnProduct product(tables.x, tile.x + column);
  for (int task = warp; task < tasks; task += static_cast<int>(blockDim.y)) {
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
      if (shape.has_columns)
        carry(shared.totals + (task * kComponents + c) * kSumsOfProduct + threadIdx.x,
              piece.columns.begin == tile.columns.begin, total[c]);
    }
    if (columns.end >= tile.products_end)
      store_filtered<kComponents>(shared, 4 * piece.group + row, column, total);
  }
}

/// The words and weights of 16 output rows, from `y` on. Rows from `end` on are outside the tile: a
/// lane reads their weights, too, but their results are not stored.
struct RowProduct {
  FilterSpan words;      // words of all rows
  Window first, second;  // weights of the lane's rows, which are eight apart

  __device__ __forceinline__ RowProduct(const FilterLines &table, int y, int end)
      : words(row_span(table, y, end)),
        first(table, min(y + lane_row(), table.count - 1)),
        second(table, min(y + lane_row() + 8, table.count - 1)) {}
};

/// Filters the groups of a round along y, for 8 columns from `column` on.
template <int kComponents>
__device__ __forceinline__ void filter_rows(const RowProduct &product, const FilterSpan &round,
                                            bool has_rounds, int column,
                                            const Shared<kComponents> &shared,
                                            DigitSums (&sums)[kComponents]) {
  int group = max(product.words.begin, round.begin);
  // A step must not extend beyond a round that is followed by another one.
  if (has_rounds) group -= (group - round.begin) % kWordsOfProduct;
  const uint32_t *samples =
      shared.column(0, group - round.begin + lane_word(), column + lane_row());
  const int plane = shared.groups * kFilteredPitch;
#pragma unroll 1
  for (const int end = min(product.words.end, round.end); group < end;
       group += kWordsOfProduct, samples += kWordsOfProduct * kFilteredPitch) {
    const WordWeights w[4] = {
        product.first.at(group + lane_word()), product.second.at(group + lane_word()),
        product.first.at(group + 4 + lane_word()), product.second.at(group + 4 + lane_word())};
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      const uint32_t b[2] = {samples[c * plane], samples[c * plane + 4 * kFilteredPitch]};
#pragma unroll
      for (int digit = 0; digit < 3; ++digit) {
        const uint32_t a[4] = {digit_of(w[0], digit), digit_of(w[1], digit), digit_of(w[2], digit),
                               digit_of(w[3], digit)};
        multiply<true>(a, b, sums[c].sum[digit]);
      }
    }
  }
}

/// The positions of a lane's four values: columns x and x + 1 of rows y and y + 8.
struct Places {
  int x, y;
  bool inside;     // the whole product is inside the output, and none of it is pad
  uint32_t shown;  // a bit for each value that is inside the output
  uint32_t pad;    // a bit for each value that is pad

  /// The product has 8 columns from `column` on and 16 rows from `row` on. Columns from `right` on
  /// and rows from `bottom` on are not stored.
  __device__ __forceinline__ Places(const FilterTables &tables, int column, int right, int row,
                                    int bottom)
      : x(column + 2 * lane_word()), y(row + lane_row()), shown(15), pad(0) {
    const int2 columns = tables.x.content, rows = tables.y.content;
    inside = column >= columns.x && column + kColumnsOfProduct <= min(columns.y, right) &&
             row >= rows.x && row + kRowsOfProduct <= min(rows.y, bottom);
    if (inside) return;
    shown = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = x + i % 2, line = y + i / 2 * 8;
      if (at < right && line < bottom) shown |= 1u << i;
      if (!contains(columns, at) || !contains(rows, line)) pad |= 1u << i;
    }
  }
};

/// Stores two neighbors at once.
template <class T>
__device__ __forceinline__ void store_pair(uint8_t *at, T first, T second) {
  if constexpr (sizeof(T) == 1)
    store_global(reinterpret_cast<uint16_t *>(at),
                 static_cast<uint16_t>(bit_cast<uint8_t>(first) | bit_cast<uint8_t>(second) << 8));
  else if constexpr (sizeof(T) == 2)
    store_global(reinterpret_cast<uint32_t *>(at),
                 bit_cast<uint16_t>(first) | uint32_t{bit_cast<uint16_t>(second)} << 16);
  else
    store_global(reinterpret_cast<uint2 *>(at),
                 uint2{bit_cast<uint32_t>(first), bit_cast<uint32_t>(second)});
}

template <class T, int kComponents>
__device__ __forceinline__ void store_values(const FilterOut &out, const Places &to,
                                             const float (&value)[kComponents][4]) {
#pragma unroll
  for (int c = 0; c < kComponents; ++c) {
    uint8_t *const upper =
        advance(advance(out.data + blockIdx.z * out.frame + out.channel[c], to.y, out.row[c]), to.x,
                out.pixel);
    uint8_t *const lower = advance(upper, 8, out.row[c]);
    if (to.inside && out.paired) {
      store_pair(upper, to_element<T>(value[c][0]), to_element<T>(value[c][1]));
      store_pair(lower, to_element<T>(value[c][2]), to_element<T>(value[c][3]));
      continue;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (to.shown >> i & 1)
        store_global(reinterpret_cast<T *>((i < 2 ? upper : lower) + i % 2 * out.pixel),
                     to_element<T>(value[c][i]));
  }
}

/// Stores the padding bytes of a picture's pixels.
__device__ __noinline__ void store_opaque(uint8_t *data, uint32_t row, uint32_t pixel, int x, int y,
                                          uint32_t shown) {
  for (int i = 0; i < 4; ++i)
    if (shown >> i & 1)
      store_global(advance(advance(data, y + i / 2 * 8, row), x + i % 2, pixel),
                   static_cast<uint8_t>(255));
}

template <int kComponents>
__device__ __forceinline__ void store(const FilterArgs &in, const FilterOut &out, const Places &to,
                                      float (&value)[kComponents][4]) {
  if (!to.inside) {
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      const float pad = out.pad_is_zero ? 0.0f : normalize(out.scale[c], in.pixels.pad[c]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (to.pad >> i & 1) value[c][i] = pad;
    }
  }
  switch (out.dtype) {
    case DType::float32: store_values<float>(out, to, value); break;
    case DType::float16: store_values<Half>(out, to, value); break;
    case DType::uint8: store_values<uint8_t>(out, to, value); break;
    case DType::int8: store_values<int8_t>(out, to, value); break;
    case DType::bfloat16: store_values<BFloat16>(out, to, value); break;
  }
  if (out.opaque >= 0)
    store_opaque(out.data + out.opaque, out.row[0], out.pixel, to.x, to.y, to.shown);
}

/// Filters a product along y. The values are complete after the last round.
template <int kComponents>
__device__ __forceinline__ void filter_task(const FilterArgs &in, const FilterOut &out,
                                            const RowProduct &product, int column,
                                            const FilterSpan &round, bool is_first, int32_t *kept,
                                            const Shared<kComponents> &shared,
                                            float (&value)[kComponents][4]) {
  DigitSums sums[kComponents];
#pragma unroll
  for (int c = 0; c < kComponents; ++c) sums[c] = DigitSums(kFilterHalf);
  filter_rows<kComponents>(product, round, kept != nullptr, column, shared, sums);
#pragma unroll
  for (int c = 0; c < kComponents; ++c) {
    int32_t total[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) total[i] = sums[c].total(i);
    if (kept) carry(kept + c * kSumsOfProduct, is_first, total);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      value[c][i] = normalize(out.scale[c], value_of(int32_t{filtered_sample(total[i])}));
  }
}

/// Filters a round along y, and stores the output after the last one.
template <int kComponents>
__device__ __forceinline__ void filter_round(const FilterArgs &in, const FilterOut &out,
                                             const Tile &tile, const FilterSpan &round, int width,
                                             const FilterShape &shape,
                                             const Shared<kComponents> &shared) {
  const int tasks = shape.row_products() * kProductsOfTile;
#pragma unroll 1
  for (int task = static_cast<int>(threadIdx.y); task < tasks;
       task += static_cast<int>(blockDim.y)) {
    const int column = task % kProductsOfTile * kColumnsOfProduct;
    const int row = tile.row_begin + task / kProductsOfTile * kRowsOfProduct;
    float value[kComponents][4];
    if (round.begin < round.end) {
      const RowProduct product(in.tables.y, row, tile.row_end);
      int32_t *const kept = shape.has_rounds
                                ? shared.sums + task * kComponents * kSumsOfProduct + threadIdx.x
                                : nullptr;
      filter_task<kComponents>(in, out, product, column, round, round.begin == tile.rows.begin,
                               kept, shared, value);
    }
    if (round.end == tile.rows.end)
      store<kComponents>(in, out, Places(in.tables, tile.x + column, width, row, tile.row_end),
                         value);
  }
}

/// Converts groups of rows and filters them along x. `group` is the first of them in shared memory.
template <class Pixels, int kComponents = Pixels::kProduced>
__device__ __forceinline__ void filter_pieces(const FilterArgs &in, const Tile &tile,
                                              const FilterSpan &rows, int group,
                                              const FilterShape &shape,
                                              const Shared<kComponents> &shared) {
  for (int x = tile.columns.begin, end = x; end < tile.products_end;
       x += shape.words - (kWordsOfProduct - 1)) {
    end = x + shape.words;
    const Piece piece = {{x, min(end, tile.columns.end)}, rows, group};
    Pixels::convert(in, piece, shared);
    __syncthreads();
    filter_columns<kComponents>(in.tables, tile, piece, shape, shared);
    __syncthreads();
  }
}

// With launch bounds, the compiler would give too many registers to blocks with the most warps.
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)
#define CUDATENSOR_FILTER_BOUNDS __maxnreg__(kFilterRegisters)
#else
#define CUDATENSOR_FILTER_BOUNDS __launch_bounds__(32 * kMostFilterWarps)
#endif

template <class Pixels, int kSlots>
__global__ void CUDATENSOR_FILTER_BOUNDS
filter(const __grid_constant__ PixelWork<FilterArgs, FilterOut, kSlots> work,
       const __grid_constant__ FilterShape shape) {
  constexpr int kComponents = Pixels::kProduced;
  extern __shared__ __align__(16) uint8_t memory[];
  const Shared<kComponents> shared(memory, shape);
  const FilterArgs &in = work.in[kSlots == 1 ? 0 : blockIdx.z];
  const Tile tile = make_tile(in.tables, shape.tile_height, work.height);
  wait_for_previous_kernel();

  // A tile that is all pad has one round without rows.
  FilterSpan round = {tile.rows.begin, tile.rows.begin};
  do {
    round = {round.end, min(round.end + shape.groups, tile.rows.end)};
    for (int begin = round.begin; begin < round.end; begin += shape.piece_groups)
      filter_pieces<Pixels>(in, tile, {begin, min(begin + shape.piece_groups, round.end)},
                            begin - round.begin, shape, shared);
    filter_round<kComponents>(in, work.out, tile, round, work.width, shape, shared);
  } while (round.end < tile.rows.end);
}

}  // namespace cudatensor::cuda
