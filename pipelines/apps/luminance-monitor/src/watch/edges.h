// SPDX-License-Identifier: LGPL-2.1-or-later
// The edges of a thumbnail, and their likeness to those of another.
//
// At each pixel, an edge has a strength and a direction. The direction is doubled, as a vector of
// angle 2a: edges from dark to bright and from bright to dark are then alike, because what is
// brighter by day may be darker in infrared light. Where directions are random, as in noise, such
// vectors cancel out. Cells are compared by normalized correlation, which ignores brightness and
// contrast.
#pragma once

#include <array>
#include <cstddef>

#include "watch/thumbnail.h"

namespace luminance {

/// A value per pixel, and per cell of a thumbnail.
using Plane = std::array<float, Thumbnail::kPixels>;
using CellValues = std::array<float, Thumbnail::kCells>;

struct Edges {
  Plane x = {}, y = {};    // the vectors
  CellValues energy = {};  // of each cell: the sum of their squares
};

/// Computes the edges. Masked pixels have none, and neither have pixels that these would affect.
Edges edges_of(const Plane &lumas, const Thumbnail::Pixels &masked = {});
/// Computes the energy anew after the vectors were changed.
void measure_energy(Edges &edges);

/// Returns the likeness of a cell's edges, from -1 to 1. 1 means that the edges are in place.
double likeness(const Edges &now, const Edges &before, size_t cell);

/// Returns the highest likeness of the cell's edges in `before` to those in `now` at a place that
/// is 2 to 8 pixels away. Costs 280 times as much.
double likeness_elsewhere(const Edges &now, const Edges &before, size_t cell);

}  // namespace luminance
