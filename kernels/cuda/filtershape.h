// SPDX-License-Identifier: LGPL-2.1-or-later
// The division of work in the kernel of antialiased resizes. Along both axes, source pixels are
// counted in words of four; four rows are a group. The kernel multiplies matrices of bytes. A
// product is 16 rows of 8 words by 8 columns.
#pragma once

#include <array>

#include "kernels/cuda/tuning.h"
#include "kernels/filterplan.h"

namespace cudatensor::cuda {

constexpr int kRowsOfProduct = 16;
constexpr int kColumnsOfProduct = 8;
constexpr int kWordsOfProduct = 8;
constexpr int kSumsOfProduct = kRowsOfProduct * kColumnsOfProduct;
constexpr int kProductsOfTile = kFilterTileWidth / kColumnsOfProduct;

/// The distance between groups of filtered rows, in words. It places the words of a product in
/// different banks of shared memory.
constexpr int kFilteredPitch = kFilterTileWidth + 8;

/// Returns the number of parts of `size` that contain `count`.
CUDATENSOR_HD constexpr int blocks_of(int count, int size) { return (count + size - 1) / size; }

/// The heights of tiles that a launch chooses from, in output rows.
constexpr std::array<int, 10> kTileHeights = {4, 6, 8, 10, 12, 13, 14, 16, 32, 64};

/// The requirements of a plan's tiles.
struct FilterNeeds {
  uint16_t words = 0;                                  ///< words of the widest tile
  std::array<uint16_t, kTileHeights.size()> groups{};  ///< groups of the highest tile, by height
  uint8_t best = 0;              ///< index of the tile height that is fastest …
  uint8_t warps = kFilterWarps;  ///< … and the warps of a block
};

/// Returns the requirements of a plan for launches of `slots` slots on a device with
/// `multiprocessors` multiprocessors.
FilterNeeds needs_of(const FilterPlan &plan, int slots, int multiprocessors);

/// The properties that all blocks of a launch share. A block filters the rows of its tile in rounds
/// of `groups`. It converts the source pixels of a round in pieces of `piece_groups` by `words`.
struct FilterShape {
  int warps;  ///< warps of a block
  int tile_height, groups, piece_groups, words;
  int pitch;  ///< words between rows of source pixels in shared memory
  bool has_rounds;
  bool has_columns;  ///< whether a tile has several pieces along x

  /// Returns the number of products along y.
  CUDATENSOR_HD int row_products() const { return blocks_of(tile_height, kRowsOfProduct); }
};

/// Returns the bytes of shared memory for a shape.
size_t shared_bytes(const FilterShape &shape, int components);

/// Returns the shape for a launch of slots with these needs, with at most `limit` bytes of shared
/// memory.
FilterShape make_shape(const FilterNeeds &needs, int components, size_t limit);

}  // namespace cudatensor::cuda
