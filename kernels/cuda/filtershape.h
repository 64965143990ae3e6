// SPDX-License-Identifier: LGPL-2.1-or-later
// How the kernel of antialiased resizes divides its work.
#pragma once

#include <array>

#include "kernels/cuda/tuning.h"
#include "kernels/filterplan.h"

namespace cudatensor::cuda {

/// The heights of tiles that a launch chooses from, in output rows.
constexpr std::array<int, 8> kTileHeights = {4, 6, 8, 12, 16, 20, 24, 32};

/// What the tiles of a plan need. `words` and `groups` count four source pixels along x and y.
struct FilterNeeds {
  uint16_t words = 0;                              ///< of the widest tile
  std::array<uint16_t, kTileHeights.size()> groups{};  ///< of the highest tile, by tile height
  uint8_t best = 0;                                ///< index of the tile height that is fastest
};

/// `frames`: the frames of a launch. `multiprocessors`: those of the device.
FilterNeeds needs_of(const FilterPlan &plan, int frames, int multiprocessors);

/// What all blocks of a launch share. A block converts the source pixels of its tile in rounds of
/// `groups`, and the rows of a round in pieces of `words`.
struct FilterShape {
  int tile_height, groups, words;
  bool has_pieces, has_rounds;
};

/// The bytes of shared memory for a shape.
size_t shared_bytes(const FilterShape &shape, int components);

/// The shape for a launch of frames with these needs, of which the tile height is `height`, with at
/// most `limit` bytes of shared memory.
FilterShape make_shape(const FilterNeeds &needs, size_t height, int components, size_t limit);

}  // namespace cudatensor::cuda
