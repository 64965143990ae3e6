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
static_assert(32 * kFilterWarps <= 1024);

/// Adds the product of 16 rows and 8 columns of 32 bytes to the sums `c`. Bytes of the weights are
/// signed, and bytes of samples are not. Of `a`, a lane holds words lane % 4 and lane % 4 + 4 of rows
/// lane / 4 and lane / 4 + 8; of `b`, the same words of column lane / 4; of `c`, columns
/// 2 · (lane % 4) and the next of the same rows.
template <bool kWeightsFirst>
__device__ __forceinline__ void multiply(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                         int32_t (&c)[4]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kWeightsFirst)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int32_t &left = c[i % 2 * 2], &right = c[i % 2 * 2 + 1];
    if constexpr (kWeightsFirst)
      asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+r"(left), "+r"(right)
          : "r"(a[i]), "r"(b[i / 2]));
    else
      asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+r"(left), "+r"(right)
          : "r"(a[i]), "r"(b[i / 2]));
  }
#endif
}

/// The sums of a lane, by digit of the weights.
struct DigitSums {
  int32_t sum[3][4];

  /// `start` is what the totals begin with.
  __device__ __forceinline__ explicit DigitSums(int32_t start = 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum[0][i] = start;
      sum[1][i] = sum[2][i] = 0;
    }
  }
  __device__ __forceinline__ int32_t total(int i) const {
    return (((sum[2][i] << 8) + sum[1][i]) << 8) + sum[0][i];
  }
};

/// The words of one output coordinate, whose weights are `step` apart.
class Window {
 public:
  __device__ __forceinline__ Window(const FilterSpan &span, const WordWeights *first, int step)
      : begin_(span.begin), count_(span.end - span.begin), step_(step), first_(first) {}

  /// The weights of a word, or zeros outside the window.
  __device__ __forceinline__ WordWeights at(int word) const {
    const uint32_t k = word - begin_;
    if (k >= count_) return {0, 0, 0, 0};
    return __ldg(reinterpret_cast<const WordWeights *>(
        advance(reinterpret_cast<const uint8_t *>(first_), k, step_ * sizeof(WordWeights))));
  }

 private:
  int begin_;
  uint32_t count_, step_;
  const WordWeights *first_;
};

__device__ __forceinline__ uint32_t digit_of(const WordWeights &weights, int digit) {
  return digit == 0 ? weights.x : digit == 1 ? weights.y : weights.z;
}

/// Position of a lane in the fragments of multiply().
__device__ __forceinline__ int lane_row() { return static_cast<int>(threadIdx.x) / 4; }
__device__ __forceinline__ int lane_word() { return static_cast<int>(threadIdx.x) % 4; }

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

/// `words`, rounded up to whole products.
__device__ __forceinline__ int whole_steps(int words) {
  return (words + kWordsOfProduct - 1) & ~(kWordsOfProduct - 1);
}

__device__ __forceinline__ Tile make_tile(const FilterTables &tables, int tile_height, int width,
                                          int height) {
  Tile tile = {};
  tile.x = static_cast<int>(blockIdx.x) * kFilterTileWidth;
  tile.row_begin = static_cast<int>(blockIdx.y) * tile_height;
  tile.row_end = min(tile.row_begin + tile_height, height);
  tile.columns = all_spans(tables.x.spans, tables.x.content, tile.x,
                           min(tile.x + kFilterTileWidth, width));
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

/// Converts source pixels in any format, one column of four rows at a time. `Converts` limits them
/// to 0..255.
template <class F, class Converts>
struct AnyPixels {
  static constexpr int kProduced = Converts::kProduced;

  static __device__ __forceinline__ void convert(const FilterArgs &args, const Piece &piece,
                                                 const Shared<kProduced> &to) {
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
    // Rounded up, so that the high half of a product with it is the quotient: count is below 2^16.
    const uint32_t reciprocal = 0xffffffffu / width + 1;
    for (uint32_t q = threadIdx.y * 32 + threadIdx.x; q < count; q += 32 * kFilterWarps) {
      const uint32_t group = width == 1 ? q : __umulhi(q, reciprocal), word = q - group * width;
      convert_quad(in, in.tables.x.base + 4 * (piece.columns.begin + word),
                   in.tables.y.base + kFilterRows * (piece.rows.begin + group),
                   to.pixel(0, group * kFilterRows, word), to);
    }
  }

 private:
  static __device__ __forceinline__ void convert_quad(const FilterArgs &in, int x, int y,
                                                      uint32_t *to,
                                                      const Shared<kProduced> &shared) {
    Quad quad;
    load_quad<F>(in.pixels.samples, in.quads, x, y, quad);
    const int plane = shared.rows * shared.pitch;
#pragma unroll
    for (int i = 0; i < 4; ++i, to += shared.pitch) {
      __half2 blended[4];
      uint32_t rgb[3];
      blend_chroma(in.quads, quad.chroma, i, blended);
      convert_row(in.pixels.yuv_to_rgb, quad.luma[i], blended, rgb);
#pragma unroll
      for (int c = 0; c < 3; ++c) to[c * plane] = rgb[c];
    }
  }
};

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
  const uint32_t *samples =
      shared.pixel(0, row + 2 * lane_row(), word - piece.begin + lane_word());
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
      to[2 * k] = static_cast<uint16_t>(pack_saturated(total[c][2 + k] >> kFilterBits,
                                                       total[c][k] >> kFilterBits, 0));
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
__device__ __forceinline__ void filter_rows(const RowProduct &product, const FilterSpan &rows, int c,
                                            int column, const Shared<kComponents> &shared,
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
  uint8_t *at = advance(advance(out.data + blockIdx.z * out.frame + out.channel[c], to.y, out.row[c]),
                        to.x, out.pixel);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint8_t *const place = (i < 2 ? at : advance(at, 8, out.row[c])) + i % 2 * out.pixel;
    if (to.inside || to.shown[i]) store_global(reinterpret_cast<T *>(place), to_element<T>(value[i]));
  }
}

/// The padding bytes of a picture's pixels.
__device__ __noinline__ void store_opaque(const FilterOut &out, const Places &to) {
  for (int i = 0; i < 4; ++i)
    if (to.inside || to.shown[i])
      store_global(advance(advance(out.data, to.y + i / 2 * 8, out.row[0]), to.x + i % 2, out.pixel) +
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
      carry(shared.sums + task * kSumsOfProduct + threadIdx.x, rows.begin == tile.rows.begin, total);
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
