// SPDX-License-Identifier: LGPL-2.1-or-later
// How the kernel of antialiased resizes divides its work. Along x and y it counts words of four source
// pixels; four rows are a group. It multiplies matrices of bytes, a product at a time: 16 rows of 8
// words by 8 columns.
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

/// Words from a group of filtered rows to the next, so that the words of a product are in different
/// banks of shared memory.
constexpr int kFilteredPitch = kFilterTileWidth + 8;

/// Parts of `size` that contain `count`.
CUDATENSOR_HD constexpr int blocks_of(int count, int size) { return (count + size - 1) / size; }

/// The heights of tiles that a launch chooses from, in output rows.
constexpr std::array<int, 10> kTileHeights = {4, 6, 8, 10, 12, 13, 14, 16, 32, 64};

/// What the tiles of a plan need.
struct FilterNeeds {
  uint16_t words = 0;                                  ///< of the widest tile
  std::array<uint16_t, kTileHeights.size()> groups{};  ///< of the highest tile, by tile height
  uint8_t best = 0;              ///< index of the tile height that is fastest …
  uint8_t warps = kFilterWarps;  ///< … and the warps of a block
};

/// `frames`: the frames of a launch. `multiprocessors`: those of the device.
FilterNeeds needs_of(const FilterPlan &plan, int frames, int multiprocessors);

/// What all blocks of a launch have in common. A block filters the rows of its tile in rounds of `groups`. It
/// converts the source pixels of a round in pieces of `piece_groups` by `words`.
struct FilterShape {
  int warps;  ///< of a block
  int tile_height, groups, piece_groups, words;
  int pitch;  ///< words from a row of source pixels in shared memory to the next
  bool has_rounds;
  bool has_columns;  ///< whether a tile has several pieces along x

  /// Products along y.
  CUDATENSOR_HD int row_products() const { return blocks_of(tile_height, kRowsOfProduct); }
};

/// The bytes of shared memory for a shape.
size_t shared_bytes(const FilterShape &shape, int components);

/// The shape for a launch of frames with these needs, with at most `limit` bytes of shared memory.
FilterShape make_shape(const FilterNeeds &needs, int components, size_t limit);

}  // namespace cudatensor::cuda
