// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/filtershape.h"

#include <algorithm>

namespace cudatensor::cuda {
namespace {

int ceil_div(int a, int b) { return (a + b - 1) / b; }
int round_up(int a, int b) { return ceil_div(a, b) * b; }

/// Words of the output coordinates [begin, end), of which some are not pad.
struct Words {
  int begin, end;
};

Words words_of(const FilterAxis &axis, int begin, int end) {
  begin = std::max(begin, axis.begin);
  end = std::min(end, axis.end);
  if (begin >= end) return {0, 0};
  const int base = axis.src_begin & ~3;
  const FilterWindow &last = axis.windows[end - 1];
  return {(axis.windows[begin].first - base) / 4, ceil_div(last.first + last.count - base, 4)};
}

/// The most words of `size` neighboring coordinates.
int most_words(const FilterAxis &axis, int size) {
  int most = 0;
  for (int k = 0; k < static_cast<int>(axis.windows.size()); k += size) {
    const Words words = words_of(axis, k, k + size);
    most = std::max(most, words.end - words.begin);
  }
  return most;
}

/// The most words of a tile, of which products read whole steps.
int most_words_of_tiles(const FilterAxis &axis) {
  int most = 0;
  for (int x = 0; x < static_cast<int>(axis.windows.size()); x += kFilterTileWidth) {
    const int begin = words_of(axis, x, x + kFilterTileWidth).begin;
    for (int k = x; k < x + kFilterTileWidth; k += kColumnsOfProduct) {
      const Words words = words_of(axis, k, k + kColumnsOfProduct);
      most =
          std::max(most, words.begin + round_up(words.end - words.begin, kWordsOfProduct) - begin);
    }
  }
  return most;
}

/// Instructions of a block's warps, roughly.
double block_cost(int groups, int words, int steps_x, int steps_y) {
  const double convert = 450.0 * ceil_div(groups * words, 32);
  const double columns = ceil_div(groups, 4) * kProductsOfTile * (35.0 * steps_x + 100.0);
  const double rows = 3.0 * kProductsOfTile * (45.0 * steps_y + 110.0);
  return convert + columns + rows + 1000.0;
}

}  // namespace

FilterNeeds needs_of(const FilterPlan &plan, int frames, int multiprocessors) {
  FilterNeeds needs;
  const auto height = static_cast<int>(plan.y.windows.size());
  const auto width = static_cast<int>(plan.x.windows.size());
  const int words = most_words(plan.x, kFilterTileWidth);
  const int steps_x = ceil_div(most_words(plan.x, kColumnsOfProduct), kWordsOfProduct);
  needs.words = static_cast<uint16_t>(most_words_of_tiles(plan.x));
  double least = 0.0;
  for (size_t i = 0; i < kTileHeights.size(); ++i) {
    const int groups = most_words(plan.y, kTileHeights[i]);
    needs.groups[i] = static_cast<uint16_t>(groups);
    const int blocks = ceil_div(width, kFilterTileWidth) * ceil_div(height, kTileHeights[i]);
    const double each = block_cost(groups, words, steps_x, ceil_div(groups, kWordsOfProduct));
    // A single frame takes as long as the multiprocessor that has the most blocks.
    const double cost = frames > 1 ? blocks * each : ceil_div(blocks, multiprocessors) * each;
    if (i > 0 && cost >= least) continue;
    least = cost;
    needs.best = static_cast<uint8_t>(i);
  }
  return needs;
}

size_t shared_bytes(const FilterShape &shape, int components) {
  const int rows = round_up(4 * shape.groups, kRowsOfProduct);
  const int groups = round_up(shape.groups, kWordsOfProduct);
  int words = components * (rows * shape.pitch + groups * kFilteredPitch);
  if (shape.has_pieces)
    words += rows / kRowsOfProduct * kProductsOfTile * components * kSumsOfProduct;
  if (shape.has_rounds) words += components * kProductsOfTile * kSumsOfProduct;
  return sizeof(uint32_t) * words;
}

FilterShape make_shape(const FilterNeeds &needs, int components, size_t limit) {
  FilterShape shape = {};
  shape.tile_height = kTileHeights[needs.best];
  shape.groups = std::max<int>(needs.groups[needs.best], 1);
  shape.words = std::max<int>(needs.words, kWordsOfProduct);
  // Twice the pitch is four more than a multiple of the 32 banks.
  shape.pitch = round_up(shape.words - 2, 16) + 2;
  const auto is_too_large = [&] { return shared_bytes(shape, components) > limit; };
  if (!is_too_large()) return shape;
  shape.has_rounds = true;
  shape.groups = round_up(shape.groups, kWordsOfProduct);
  while (shape.groups > kWordsOfProduct && is_too_large()) shape.groups -= kWordsOfProduct;
  while (shape.pitch > 18 && is_too_large()) {
    shape.has_pieces = true;
    shape.words = shape.pitch -= 16;
  }
  return shape;
}

}  // namespace cudatensor::cuda
