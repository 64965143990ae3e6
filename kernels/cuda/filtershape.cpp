// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/filtershape.h"

#include <algorithm>

namespace cudatensor::cuda {
namespace {

constexpr int kThreads = 32 * kFilterWarps;

int ceil_div(int a, int b) { return (a + b - 1) / b; }
int round_up(int a, int b) { return ceil_div(a, b) * b; }

/// The most words of four source pixels, from src_begin rounded down to such a word, that `size`
/// neighboring output coordinates read.
int words_for(const FilterAxis &axis, int size) {
  const int base = axis.src_begin & ~3, dst = static_cast<int>(axis.windows.size());
  int most = 0;
  for (int begin = 0; begin < dst; begin += size) {
    const int first = std::max(begin, axis.begin), end = std::min(begin + size, axis.end);
    if (first >= end) continue;
    const FilterWindow &last = axis.windows[end - 1];
    const int from = (axis.windows[first].first - base) / 4;
    most = std::max(most, ceil_div(last.first + last.count - base, 4) - from);
  }
  return most;
}

/// Instructions of a block, roughly.
double block_cost(const FilterNeeds &needs, size_t height, int words_x, int words_y) {
  const int groups = needs.groups[height];
  const double convert = 420.0 * round_up(groups * needs.words, kThreads);
  const double columns = 32.0 * round_up(groups, kFilterWarps) * (45.0 * words_x + 40.0);
  const double rows =
      32.0 * round_up(kTileHeights[height], kFilterWarps) * (13.0 * words_y + 60.0);
  return convert + columns + rows + 100.0 * kThreads;
}

}  // namespace

FilterNeeds needs_of(const FilterPlan &plan, int frames, int multiprocessors) {
  FilterNeeds needs;
  const auto height = static_cast<int>(plan.y.windows.size());
  const auto width = static_cast<int>(plan.x.windows.size());
  const int words_x = words_for(plan.x, 1), words_y = words_for(plan.y, 1);
  needs.words = static_cast<uint16_t>(words_for(plan.x, kFilterTileWidth));
  double least = 0.0;
  for (size_t i = 0; i < kTileHeights.size(); ++i) {
    needs.groups[i] = static_cast<uint16_t>(words_for(plan.y, kTileHeights[i]));
    const int blocks = ceil_div(width, kFilterTileWidth) * ceil_div(height, kTileHeights[i]);
    const double each = block_cost(needs, i, words_x, words_y);
    // A single frame takes as long as the multiprocessor that has the most blocks.
    const double cost = frames > 1 ? blocks * each : ceil_div(blocks, multiprocessors) * each;
    if (i > 0 && cost >= least) continue;
    least = cost;
    needs.best = static_cast<uint8_t>(i);
  }
  return needs;
}

size_t shared_bytes(const FilterShape &shape, int components) {
  const size_t word = components == 1 ? 4 : 16;
  const size_t sums = components * size_t{kFilterTileWidth} * sizeof(int32_t);
  size_t bytes = shape.groups * (4 * shape.words + size_t{kFilterTileWidth}) * word;
  if (shape.has_pieces) bytes += shape.groups * 4 * sums;
  if (shape.has_rounds) bytes += shape.tile_height * sums;
  return bytes;
}

FilterShape make_shape(const FilterNeeds &needs, size_t height, int components, size_t limit) {
  const int words = std::max<int>(needs.words, 1), groups = std::max<int>(needs.groups[height], 1);
  FilterShape shape = {kTileHeights[height], groups, words, false, false};
  const int pieces = ceil_div(words, kFilterPieceWords);
  shape.words = ceil_div(words, pieces);
  shape.has_pieces = pieces > 1;
  if (shared_bytes(shape, components) <= limit) return shape;
  shape.has_rounds = true;
  while (shape.groups > 1 && shared_bytes(shape, components) > limit) --shape.groups;
  // Whole turns of the warps.
  if (shape.groups > kFilterWarps) shape.groups -= shape.groups % kFilterWarps;
  return shape;
}

}  // namespace cudatensor::cuda
