// SPDX-License-Identifier: LGPL-2.1-or-later
// What a block of the kernel of antialiased resizes computes, and its shared memory.
#pragma once

#include "kernels/cuda/filterproducts.cuh"

namespace cudatensor::cuda {

/// Source rows of a group: those of one word along y.
constexpr int kFilterRows = 4;

/// The shared memory of a block, see shared_bytes().
template <int kComponents>
struct Shared {
  uint32_t *pixels;    ///< of a piece, four to a word: [component][row][word]
  uint32_t *filtered;  ///< [component][group][column], with four rows in a word
  int32_t *totals;     ///< of earlier pieces, by task of filter_columns()
  int32_t *sums;       ///< of earlier rounds, by task of filter_rows()
  int pitch, rows, groups;

  __device__ __forceinline__ Shared(uint8_t *memory, const FilterShape &shape)
      : pixels(reinterpret_cast<uint32_t *>(memory)),
        pitch(shape.pitch),
        rows(kRowsOfProduct * ((shape.groups + 3) / 4)),
        groups((shape.groups + 7) & ~7) {
    filtered = pixels + kComponents * rows * pitch;
    totals = reinterpret_cast<int32_t *>(filtered + kComponents * groups * kFilteredPitch);
    sums = totals;
    if (shape.has_pieces)
      sums += rows / kRowsOfProduct * kProductsOfTile * kComponents * kSumsOfProduct;
  }

  /// Word `word` of row `row`.
  __device__ __forceinline__ uint32_t *pixel(int c, int row, int word) const {
    return pixels + (c * rows + row) * pitch + word;
  }
  __device__ __forceinline__ uint32_t *column(int c, int group, int column) const {
    return filtered + (c * groups + group) * kFilteredPitch + column;
  }
};

/// What a block computes: of the output, rows [row_begin, row_end); of the source, words along x and
/// y.
struct Tile {
  int x, row_begin, row_end;
  FilterSpan columns, rows;
  int products_end;  // of the words of the tile's products
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

/// The words of the columns of a product, [begin, end).
__device__ __forceinline__ FilterSpan product_span(const FilterTables &tables, int x) {
  return all_spans(tables.x.spans, tables.x.content, x, x + kColumnsOfProduct);
}

__device__ __forceinline__ Tile make_tile(const FilterTables &tables, int tile_height, int width,
                                          int height) {
  Tile tile = {};
  tile.x = static_cast<int>(blockIdx.x) * kFilterTileWidth;
  tile.row_begin = static_cast<int>(blockIdx.y) * tile_height;
  tile.row_end = min(tile.row_begin + tile_height, height);
  tile.columns =
      all_spans(tables.x.spans, tables.x.content, tile.x, min(tile.x + kFilterTileWidth, width));
  tile.rows = all_spans(tables.y.spans, tables.y.content, tile.row_begin, tile.row_end);
  if (tile.columns.begin == tile.columns.end) tile.rows = {0, 0};
#pragma unroll
  for (int i = 0; i < kProductsOfTile; ++i) {
    const FilterSpan span = product_span(tables, tile.x + i * kColumnsOfProduct);
    tile.products_end = max(tile.products_end, span.begin + whole_steps(span.end - span.begin));
  }
  return tile;
}

/// Words along x and y that a block converts together.
struct Piece {
  FilterSpan columns, rows;

  __device__ __forceinline__ int width() const { return columns.end - columns.begin; }
  __device__ __forceinline__ int height() const { return rows.end - rows.begin; }
};

}  // namespace cudatensor::cuda
