// SPDX-License-Identifier: LGPL-2.1-or-later
// The plans of antialiased resizes in device memory. A weight is split into three signed digits of
// base 256, so that one instruction multiplies four samples with the digits of four weights.
#pragma once

#include "kernels/cuda/tables.cuh"
#include "kernels/filterplan.h"

namespace cudatensor::cuda {

/// Words of four source pixels, [begin, end), counted from the word of the plan's first source
/// pixel.
struct FilterSpan {
  int begin, end;
};

/// The weights of one word: the digits of its four weights, the lowest digit first.
using WordWeights = uint4;

/// The windows of the columns. Word k of a column's window is at weights[k · step + column].
struct FilterColumns {
  const int2 *spans;  ///< by column
  const WordWeights *weights;
  int step;
  int2 content;  ///< the columns that are not pad, [x, y)
  int base;      ///< the source pixel of word 0
};

/// The windows of the rows. Those of a row begin at weights[first[row]].
struct FilterLines {
  const int2 *spans;  ///< by row
  const int32_t *first;
  const WordWeights *weights;
  int2 content;
  int base;
};

struct FilterTables {
  FilterColumns x;
  FilterLines y;
};

/// The words of the windows of one axis.
class AxisWords {
 public:
  explicit AxisWords(const FilterAxis &axis) : axis_(axis), base_(axis.src_begin & ~3) {
    for (const FilterWindow &window : axis.windows) spans.push_back(span_of(window));
  }

  /// The weights of word `word` for the output coordinate `k`.
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

  std::vector<int2> spans;

 private:
  int2 span_of(const FilterWindow &window) const {
    if (window.count == 0) return {0, 0};
    const int first = window.first - base_;
    return {first / 4, (first + window.count + 3) / 4};
  }

  const FilterAxis &axis_;
  int base_;
};

/// The entries of a plan of source pixels, of which the first is `begin`, from a multiple of four to
/// a multiple of four. No weight belongs to the pixels that are added.
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
    tables.x.spans = reinterpret_cast<const int2 *>(block + x_spans_);
    tables.x.weights = reinterpret_cast<const WordWeights *>(block + x_weights_);
    tables.y.spans = reinterpret_cast<const int2 *>(block + y_spans_);
    tables.y.first = reinterpret_cast<const int32_t *>(block + y_first_);
    tables.y.weights = reinterpret_cast<const WordWeights *>(block + y_weights_);
    return tables;
  }

 private:
  void append_columns(TableBytes &bytes, const FilterAxis &axis) {
    const AxisWords words(axis);
    int longest = 0;
    for (const int2 &span : words.spans) longest = std::max(longest, span.y - span.x);
    const size_t step = words.spans.size();
    std::vector<WordWeights> weights(longest * step);
    for (size_t column = 0; column < step; ++column) {
      const int2 span = words.spans[column];
      for (int word = span.x; word < span.y; ++word)
        weights[(word - span.x) * step + column] = words.weights(column, word);
    }
    x_spans_ = bytes.append(words.spans);
    x_weights_ = bytes.append(weights);
    tables_.x.step = static_cast<int>(step);
    tables_.x.content = {axis.begin, axis.end};
    tables_.x.base = axis.src_begin & ~3;
  }

  void append_lines(TableBytes &bytes, const FilterAxis &axis) {
    const AxisWords words(axis);
    std::vector<WordWeights> weights;
    std::vector<int32_t> first;
    for (size_t row = 0; row < words.spans.size(); ++row) {
      first.push_back(static_cast<int32_t>(weights.size()));
      for (int word = words.spans[row].x; word < words.spans[row].y; ++word)
        weights.push_back(words.weights(row, word));
    }
    y_spans_ = bytes.append(words.spans);
    y_first_ = bytes.append(first);
    y_weights_ = bytes.append(weights);
    tables_.y.content = {axis.begin, axis.end};
    tables_.y.base = axis.src_begin & ~3;
  }

  TableOffsets<float> pixels_;
  FilterTables tables_ = {};  // everything except the addresses
  size_t x_spans_, x_weights_, y_spans_, y_first_, y_weights_;
};

}  // namespace cudatensor::cuda
