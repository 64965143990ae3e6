// SPDX-License-Identifier: LGPL-2.1-or-later
// The plans of antialiased resizes in device memory. A weight is split into three signed digits of
// base 256, so that one instruction multiplies four samples with the digits of four weights.
#pragma once

#include "kernels/cuda/filtershape.h"
#include "kernels/cuda/tables.cuh"
#include "kernels/filterplan.h"

namespace cudatensor::cuda {

/// A range [begin, end) of words of four source pixels. Word 0 contains the plan's first source
/// pixel.
struct __align__(8) FilterSpan {
  int begin, end;
};

/// The words of a tile's columns. Its products read whole steps, up to `products_end`.
struct __align__(16) TileSpan {
  int begin, end, products_end, unused;
};

/// The words of a row's window, whose weights begin at weights[first].
struct __align__(16) LineWindow {
  int begin, end, first, unused;
};

/// The weights of one word: the digits of its four weights, the lowest digit first.
using WordWeights = uint4;

/// The windows of the columns. Word k of a column's window is at weights[k · count + column].
struct FilterColumns {
  const FilterSpan *spans;     ///< by column; empty for pad
  const FilterSpan *products;  ///< words of all columns of a product, by product
  const TileSpan *tiles;       ///< by tile
  const WordWeights *weights;
  int count;     ///< number of columns
  int2 content;  ///< the columns that are not pad, [x, y)
  int base;      ///< the source pixel of word 0
};

/// The windows of the rows.
struct FilterLines {
  const LineWindow *windows;  ///< by row; empty for pad
  const WordWeights *weights;
  int count;
  int2 content;
  int base;
};

struct FilterTables {
  FilterColumns x;
  FilterLines y;
};

/// Computes the words of the windows of one axis.
class AxisWords {
 public:
  explicit AxisWords(const FilterAxis &axis) : axis_(axis), base_(axis.src_begin & ~3) {
    for (const FilterWindow &window : axis.windows) spans.push_back(span_of(window));
  }

  /// Returns the weights of word `word` for the output coordinate `k`.
  WordWeights weights(size_t k, int word) const {
    const FilterWindow &window = axis_.windows[k];
    uint32_t digits[3] = {};
    for (int i = 0; i < 4; ++i) {
      const int at = base_ + 4 * word + i - window.first;
      if (at < 0 || at >= window.count) continue;
      int32_t rest = axis_.weights[window.weight + at];
      for (uint32_t &digit : digits) {
        const auto low = static_cast<int8_t>(rest & 0xff);
        digit |= static_cast<uint32_t>(static_cast<uint8_t>(low)) << (8 * i);
        rest = (rest - low) / 256;
      }
    }
    return {digits[0], digits[1], digits[2], 0};
  }

  std::vector<FilterSpan> spans;

  /// Returns the words of the output coordinates [begin, begin + size).
  FilterSpan all(int begin, int size) const {
    const int end = std::min(begin + size, axis_.end);
    begin = std::max(begin, axis_.begin);
    if (begin >= end) return {0, 0};
    return {spans[begin].begin, spans[end - 1].end};
  }

 private:
  FilterSpan span_of(const FilterWindow &window) const {
    if (window.count == 0) return {0, 0};
    const int first = window.first - base_;
    return {first / 4, (first + window.count + 3) / 4};
  }

  const FilterAxis &axis_;
  int base_;
};

/// Extends a plan of source pixels, whose first is `begin`, to multiples of four on both sides. The
/// added pixels have no weights.
inline AxisPlan in_whole_words(AxisPlan plan, int begin) {
  for (std::vector<Tap> *taps : {&plan.luma, &plan.chroma}) {
    if (taps->empty()) continue;
    taps->insert(taps->begin(), begin % 4, Tap(taps->front()));
    taps->resize((taps->size() + 3) / 4 * 4, Tap(taps->back()));
  }
  return plan;
}

/// The offsets of a plan's tables in a block.
class FilterOffsets {
 public:
  FilterOffsets(TableBytes &bytes, const FilterPlan &plan)
      : pixels_(bytes, in_whole_words(plan.pixels.sampling.x, plan.x.src_begin),
                in_whole_words(plan.pixels.sampling.y, plan.y.src_begin),
                !plan.pixels.layout.is_deep()) {
    append_columns(bytes, plan.x);
    append_lines(bytes, plan.y);
  }

  Tables<float> pixels_in(const uint8_t *block) const { return pixels_.in(block); }

  FilterTables in(const uint8_t *block) const {
    FilterTables tables = tables_;
    at(block, x_spans_, tables.x.spans);
    at(block, x_products_, tables.x.products);
    at(block, x_tiles_, tables.x.tiles);
    at(block, x_weights_, tables.x.weights);
    at(block, y_windows_, tables.y.windows);
    at(block, y_weights_, tables.y.weights);
    return tables;
  }

 private:
  template <class T>
  static void at(const uint8_t *block, size_t offset, const T *&table) {
    table = reinterpret_cast<const T *>(block + offset);
  }

  void append_columns(TableBytes &bytes, const FilterAxis &axis) {
    const AxisWords words(axis);
    const auto count = static_cast<int>(words.spans.size());
    x_spans_ = bytes.append(words.spans);
    x_products_ = bytes.append(product_spans(words, count));
    x_tiles_ = bytes.append(tile_spans(words, count));
    x_weights_ = bytes.append(weights_by_word(words));
    tables_.x.count = count;
    tables_.x.content = {axis.begin, axis.end};
    tables_.x.base = axis.src_begin & ~3;
  }

  static std::vector<FilterSpan> product_spans(const AxisWords &words, int count) {
    std::vector<FilterSpan> spans;
    for (int x = 0; x < blocks_of(count, kFilterTileWidth) * kFilterTileWidth;
         x += kColumnsOfProduct)
      spans.push_back(words.all(x, kColumnsOfProduct));
    return spans;
  }

  static std::vector<TileSpan> tile_spans(const AxisWords &words, int count) {
    std::vector<TileSpan> tiles;
    for (int x = 0; x < count; x += kFilterTileWidth) {
      const FilterSpan all = words.all(x, kFilterTileWidth);
      tiles.push_back({all.begin, all.end, 0, 0});
      for (int k = x; k < x + kFilterTileWidth; k += kColumnsOfProduct) {
        const FilterSpan span = words.all(k, kColumnsOfProduct);
        const int steps = blocks_of(span.end - span.begin, kWordsOfProduct);
        tiles.back().products_end =
            std::max(tiles.back().products_end, span.begin + steps * kWordsOfProduct);
      }
    }
    return tiles;
  }

  static std::vector<WordWeights> weights_by_word(const AxisWords &words) {
    int longest = 0;
    for (const FilterSpan &span : words.spans) longest = std::max(longest, span.end - span.begin);
    const size_t count = words.spans.size();
    std::vector<WordWeights> weights(longest * count);
    for (size_t column = 0; column < count; ++column) {
      const FilterSpan span = words.spans[column];
      for (int word = span.begin; word < span.end; ++word)
        weights[(word - span.begin) * count + column] = words.weights(column, word);
    }
    return weights;
  }

  void append_lines(TableBytes &bytes, const FilterAxis &axis) {
    const AxisWords words(axis);
    std::vector<WordWeights> weights;
    std::vector<LineWindow> windows;
    for (size_t row = 0; row < words.spans.size(); ++row) {
      const FilterSpan span = words.spans[row];
      windows.push_back({span.begin, span.end, static_cast<int>(weights.size()), 0});
      for (int word = span.begin; word < span.end; ++word)
        weights.push_back(words.weights(row, word));
    }
    y_windows_ = bytes.append(windows);
    y_weights_ = bytes.append(weights);
    tables_.y.count = static_cast<int>(windows.size());
    tables_.y.content = {axis.begin, axis.end};
    tables_.y.base = axis.src_begin & ~3;
  }

  TableOffsets<float> pixels_;
  FilterTables tables_ = {};  // everything except the addresses
  size_t x_spans_, x_products_, x_tiles_, x_weights_, y_windows_, y_weights_;
};

}  // namespace cudatensor::cuda
