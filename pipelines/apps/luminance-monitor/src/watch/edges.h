// SPDX-License-Identifier: LGPL-2.1-or-later
// The edges of a thumbnail, and how like those of another they are.
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

/// There are none at masked pixels, nor where these would make a difference.
Edges edges_of(const Plane &lumas, const Thumbnail::Pixels &masked = {});
/// For edges whose vectors were changed.
void measure_energy(Edges &edges);

/// From -1 to 1, which means that the cell's edges are in place.
double likeness(const Edges &now, const Edges &before, size_t cell);

/// The likeness of the edges of `before` to those at the place up to 8 pixels away, but more than
/// one, where they are most alike. Costs 280 times as much.
double likeness_elsewhere(const Edges &now, const Edges &before, size_t cell);

}  // namespace luminance
