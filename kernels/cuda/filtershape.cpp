// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/filtershape.h"

#include <algorithm>

namespace cudatensor::cuda {
namespace {

/// The number of groups in the 16 rows of a product.
constexpr int kGroupsOfProduct = kRowsOfProduct / 4;

/// The maximum number of groups of a tile, so that it needs no rounds.
constexpr int kMostGroups = 72;

/// The cost of waiting for a piece, in units of the conversion of a quad.
constexpr double kPieceCost = 0.3;

int round_up(int a, int b) { return blocks_of(a, b) * b; }

/// A range of words of the source.
struct Words {
  int begin, end;
};

Words words_of(const FilterAxis &axis, int begin, int end) {
  begin = std::max(begin, axis.begin);
  end = std::min(end, axis.end);
  if (begin >= end) return {0, 0};
  const int base = axis.src_begin & ~3;
  const FilterWindow &last = axis.windows[end - 1];
  return {(axis.windows[begin].first - base) / 4, blocks_of(last.first + last.count - base, 4)};
}

/// Returns the maximum number of words of `size` neighboring output coordinates.
int most_words(const FilterAxis &axis, int size) {
  int most = 0;
  for (int k = 0; k < static_cast<int>(axis.windows.size()); k += size) {
    const Words words = words_of(axis, k, k + size);
    most = std::max(most, words.end - words.begin);
  }
  return most;
}

/// Returns the maximum number of words of a tile. Its products read whole steps.
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

/// Returns the number of tiles along an axis that are not all pad.
int tiles_of(const FilterAxis &axis, int size) {
  if (axis.begin >= axis.end) return 0;
  return blocks_of(axis.end, size) - axis.begin / size;
}

/// The work of one block.
struct BlockWork {
  int groups, words;  ///< groups and words of its source pixels
  int steps_x;        ///< steps of a product along x
  int steps_y;        ///< steps of a product along y
  int row_products;
};

/// Estimates the instructions of a block's warps.
double block_cost(const BlockWork &work, int warps) {
  const double convert = 480.0 * warps * blocks_of(work.groups * work.words, 32 * warps);
  const double columns =
      blocks_of(work.groups, kGroupsOfProduct) * kProductsOfTile * (80.0 * work.steps_x + 110.0);
  const double rows = work.row_products * kProductsOfTile * (50.0 * work.steps_y + 450.0);
  return convert + columns + rows + 330.0 * warps;
}

/// Estimates the cycles of a launch with `per_sm` blocks on the multiprocessor that has the most.
double launch_cost(double block, double per_sm, int warps) {
  const double resident = std::min<double>(per_sm * warps, kFilterBlocksPerSm * kFilterWarps);
  // Measured: 1.35 instructions per cycle with 8 warps, 2.75 with 24.
  return per_sm * block / (0.65 + 0.0875 * resident);
}

/// Returns the number of warps per block that fills a multiprocessor.
int warps_for(int slots, int per_sm) {
  if (slots > 1 || per_sm > 2) return kFilterWarps;
  return per_sm == 2 ? kFilterWarps * 3 / 2 : kMostFilterWarps;
}

/// Chooses the number of groups per piece with which the threads of a block convert the fewest
/// quads one after the other. Returns false if no number of groups fits.
template <class Fits>
bool choose_piece_groups(FilterShape &shape, const Fits &fits) {
  const auto passes = [&](int groups) { return blocks_of(groups * shape.words, 32 * shape.warps); };
  double least = 0.0;
  int best = 0;
  for (int groups = kGroupsOfProduct; groups < shape.groups + kGroupsOfProduct;
       groups += kGroupsOfProduct) {
    shape.piece_groups = std::min(groups, shape.groups);
    if (!fits()) break;
    const int whole = shape.groups / shape.piece_groups, rest = shape.groups % shape.piece_groups;
    const double cost = whole * (passes(shape.piece_groups) + kPieceCost) +
                        (rest > 0 ? passes(rest) + kPieceCost : 0.0);
    if (best > 0 && cost >= least) continue;
    least = cost;
    best = shape.piece_groups;
  }
  shape.piece_groups = best;
  return best > 0;
}

}  // namespace

FilterNeeds needs_of(const FilterPlan &plan, int slots, int multiprocessors) {
  FilterNeeds needs;
  needs.words = static_cast<uint16_t>(most_words_of_tiles(plan.x));
  const int words = most_words(plan.x, kFilterTileWidth);
  const int steps_x = blocks_of(most_words(plan.x, kColumnsOfProduct), kWordsOfProduct);
  const int steps_y = blocks_of(most_words(plan.y, kRowsOfProduct), kWordsOfProduct);
  double least = 0.0;
  for (size_t i = 0; i < kTileHeights.size(); ++i) {
    const int height = kTileHeights[i], groups = most_words(plan.y, height);
    needs.groups[i] = static_cast<uint16_t>(groups);
    if (i > 0 && groups > kMostGroups) continue;
    const int blocks = slots * tiles_of(plan.x, kFilterTileWidth) * tiles_of(plan.y, height);
    const int per_sm = blocks_of(blocks, multiprocessors), warps = warps_for(slots, per_sm);
    const double each =
        block_cost({groups, words, steps_x, steps_y, blocks_of(height, kRowsOfProduct)}, warps);
    // The last blocks of a launch have their multiprocessors to themselves.
    const double share =
        per_sm <= kFilterBlocksPerSm ? per_sm : 0.5 + 1.0 * blocks / multiprocessors;
    const double cost = launch_cost(each, share, warps);
    if (i > 0 && cost >= least) continue;
    least = cost;
    needs.best = static_cast<uint8_t>(i);
    needs.warps = static_cast<uint8_t>(warps);
  }
  return needs;
}

size_t shared_bytes(const FilterShape &shape, int components) {
  const int rows = round_up(4 * shape.piece_groups, kRowsOfProduct);
  // A product may begin at any group.
  const int groups = shape.groups + kWordsOfProduct - 1;
  int words = components * (rows * shape.pitch + groups * kFilteredPitch);
  if (shape.has_columns)
    words += rows / kRowsOfProduct * kProductsOfTile * components * kSumsOfProduct;
  if (shape.has_rounds)
    words += shape.row_products() * kProductsOfTile * components * kSumsOfProduct;
  return sizeof(uint32_t) * words;
}

FilterShape make_shape(const FilterNeeds &needs, int components, size_t limit) {
  FilterShape shape = {};
  shape.warps = needs.warps;
  shape.tile_height = kTileHeights[needs.best];
  shape.groups = std::max<int>(needs.groups[needs.best], 1);
  shape.words = std::max<int>(needs.words, kWordsOfProduct);
  // Twice the pitch is four more than a multiple of the 32 banks, so that the lanes of a warp read
  // from different banks.
  shape.pitch = round_up(shape.words - 2, 16) + 2;
  const int most_groups =
      static_cast<int>(limit / 2 / (components * kFilteredPitch * sizeof(uint32_t)));
  if (shape.groups > most_groups) {
    shape.has_rounds = true;
    shape.groups = most_groups / kWordsOfProduct * kWordsOfProduct;
  }
  const auto fits = [&] { return shared_bytes(shape, components) <= limit; };
  if (choose_piece_groups(shape, fits)) return shape;
  shape.piece_groups = kGroupsOfProduct;
  shape.has_columns = true;
  while (shape.pitch > 18 && !fits()) shape.words = shape.pitch -= 16;
  return shape;
}

}  // namespace cudatensor::cuda
