// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/edges.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace luminance {
namespace {

constexpr int kWidth = Thumbnail::kWidth, kHeight = Thumbnail::kHeight, kCell = Thumbnail::kCell;
constexpr int kFar = 8;    // pixels each way in which edges are looked for elsewhere
constexpr int kReach = 2;  // pixels each way that an edge is computed from

constexpr size_t place(int x, int y) { return static_cast<size_t>(y * kWidth + x); }

constexpr int left_of(size_t cell) { return static_cast<int>(cell % Thumbnail::kColumns) * kCell; }
constexpr int top_of(size_t cell) { return static_cast<int>(cell / Thumbnail::kColumns) * kCell; }

/// Returns the pixel at this place, or the nearest one of the picture.
float at(const Plane &plane, int x, int y) {
  return plane[place(std::clamp(x, 0, kWidth - 1), std::clamp(y, 0, kHeight - 1))];
}

/// Smooths a plane a little, so that an edge between pixels looks like one that is not.
Plane smoothed(const Plane &plane) {
  Plane across, both;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      across[place(x, y)] = (at(plane, x - 1, y) + 2 * at(plane, x, y) + at(plane, x + 1, y)) / 4;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      both[place(x, y)] = (at(across, x, y - 1) + 2 * at(across, x, y) + at(across, x, y + 1)) / 4;
  return both;
}

/// Returns the likeness of the cell of `before` and of what lies in `now` at this distance.
double likeness_at(const Edges &now, const Edges &before, size_t cell, int dx, int dy) {
  float product = 0, energy = 0;
  for (int y = top_of(cell); y < top_of(cell) + kCell; ++y) {
    const size_t from = place(left_of(cell), y), to = place(left_of(cell) + dx, y + dy);
    for (size_t i = 0; i < kCell; ++i) {
      const float ax = now.x[to + i], ay = now.y[to + i];
      product += ax * before.x[from + i] + ay * before.y[from + i];
      energy += ax * ax + ay * ay;
    }
  }
  const double both = static_cast<double>(energy) * static_cast<double>(before.energy[cell]);
  return both > 0 ? static_cast<double>(product) / std::sqrt(both) : 0;
}

/// Returns the pixels whose edges would be computed from a masked pixel.
Thumbnail::Pixels near(const Thumbnail::Pixels &masked) {
  Thumbnail::Pixels all;
  if (masked.none()) return all;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      if (!masked.test(place(x, y))) continue;
      for (int j = std::max(y - kReach, 0); j <= std::min(y + kReach, kHeight - 1); ++j)
        for (int i = std::max(x - kReach, 0); i <= std::min(x + kReach, kWidth - 1); ++i)
          all.set(place(i, j));
    }
  return all;
}

}  // namespace

Edges edges_of(const Plane &lumas, const Thumbnail::Pixels &masked) {
  const Plane smooth = smoothed(lumas);
  const Thumbnail::Pixels hidden = near(masked);
  Edges edges;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      if (hidden.test(place(x, y))) continue;
      const float gx = (at(smooth, x + 1, y) - at(smooth, x - 1, y)) / 2;
      const float gy = (at(smooth, x, y + 1) - at(smooth, x, y - 1)) / 2;
      const float strength = std::sqrt(gx * gx + gy * gy);
      if (strength == 0) continue;
      edges.x[place(x, y)] = (gx * gx - gy * gy) / strength;
      edges.y[place(x, y)] = 2 * gx * gy / strength;
    }
  measure_energy(edges);
  return edges;
}

void measure_energy(Edges &edges) {
  for (size_t cell = 0; cell < Thumbnail::kCells; ++cell) {
    float sum = 0;
    for (int y = top_of(cell); y < top_of(cell) + kCell; ++y)
      for (size_t i = place(left_of(cell), y); i < place(left_of(cell) + kCell, y); ++i)
        sum += edges.x[i] * edges.x[i] + edges.y[i] * edges.y[i];
    edges.energy[cell] = sum;
  }
}

double likeness(const Edges &now, const Edges &before, size_t cell) {
  return likeness_at(now, before, cell, 0, 0);
}

double likeness_elsewhere(const Edges &now, const Edges &before, size_t cell) {
  const int left = left_of(cell), top = top_of(cell);
  double best = -1;
  for (int dy = std::max(-kFar, -top); dy <= std::min(kFar, kHeight - kCell - top); ++dy)
    for (int dx = std::max(-kFar, -left); dx <= std::min(kFar, kWidth - kCell - left); ++dx)
      if (std::abs(dx) > 1 || std::abs(dy) > 1)
        best = std::max(best, likeness_at(now, before, cell, dx, dy));
  return best;
}

}  // namespace luminance
