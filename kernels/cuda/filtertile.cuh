// SPDX-License-Identifier: LGPL-2.1-or-later
// The work of a block of the kernel of antialiased resizes, and its shared memory.
#pragma once

#include "kernels/cuda/filterproducts.cuh"

namespace cudatensor::cuda {

/// The number of source rows in a group, which are one word along y.
constexpr int kFilterRows = 4;

/// The shared memory of a block, see shared_bytes().
template <int kComponents>
struct Shared {
  uint32_t *pixels;    ///< pixels of a piece, four to a word: [component][row][word]
  uint32_t *filtered;  ///< [component][group][column], with four rows in a word
  int32_t *totals;     ///< totals of earlier pieces, by task of filter_columns()
  int32_t *sums;       ///< sums of earlier rounds, by task of filter_round()
  int pitch, rows, groups;

  __device__ __forceinline__ Shared(uint8_t *memory, const FilterShape &shape)
      : pixels(reinterpret_cast<uint32_t *>(memory)),
        pitch(shape.pitch),
        rows(kRowsOfProduct * ((shape.piece_groups + 3) / 4)),
        groups(shape.groups + kWordsOfProduct - 1) {
    filtered = pixels + kComponents * rows * pitch;
    totals = reinterpret_cast<int32_t *>(filtered + kComponents * groups * kFilteredPitch);
    sums = totals;
    if (shape.has_columns)
      sums += rows / kRowsOfProduct * kProductsOfTile * kComponents * kSumsOfProduct;
  }

  /// Returns word `word` of row `row` of component `c`.
  __device__ __forceinline__ uint32_t *pixel(int c, int row, int word) const {
    return pixels + (c * rows + row) * pitch + word;
  }
  __device__ __forceinline__ uint32_t *column(int c, int group, int column) const {
    return filtered + (c * groups + group) * kFilteredPitch + column;
  }
};

/// The work of a block: rows [row_begin, row_end) of the output, and the words of the source along
/// x and y. A tile that is all pad has no words.
struct Tile {
  int x, row_begin, row_end;
  FilterSpan columns, rows;
  int products_end;  // end of the words that the tile's products read
};

__device__ __forceinline__ bool contains(const int2 &range, int k) {
  return k >= range.x && k < range.y;
}

__device__ __forceinline__ FilterSpan load_span(const FilterSpan *at) {
  const int2 span = __ldg(reinterpret_cast<const int2 *>(at));
  return {span.x, span.y};
}

/// Returns the words of rows [begin, end).
__device__ __forceinline__ FilterSpan row_span(const FilterLines &table, int begin, int end) {
  begin = max(begin, table.content.x);
  end = min(end, table.content.y);
  if (begin >= end) return {0, 0};
  return {__ldg(&table.windows[begin].begin), __ldg(&table.windows[end - 1].end)};
}

__device__ __forceinline__ Tile make_tile(const FilterTables &tables, int tile_height, int height) {
  Tile tile = {};
  tile.x = static_cast<int>(blockIdx.x) * kFilterTileWidth;
  tile.row_begin = static_cast<int>(blockIdx.y) * tile_height;
  tile.row_end = min(tile.row_begin + tile_height, height);
  if (tables.x.content.y <= tile.x || tables.x.content.x >= tile.x + kFilterTileWidth) return tile;
  tile.rows = row_span(tables.y, tile.row_begin, tile.row_end);
  const int4 columns = __ldg(reinterpret_cast<const int4 *>(tables.x.tiles + blockIdx.x));
  tile.columns = {columns.x, columns.y};
  tile.products_end = columns.z;
  return tile;
}

/// The words along x and y that a block converts together.
struct Piece {
  FilterSpan columns, rows;
  int group;  ///< group of its first rows in shared memory

  __device__ __forceinline__ int width() const { return columns.end - columns.begin; }
  __device__ __forceinline__ int height() const { return rows.end - rows.begin; }
};

}  // namespace cudatensor::cuda
