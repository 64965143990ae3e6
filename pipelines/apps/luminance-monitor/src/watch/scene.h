// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares what a camera sees with what it saw, by the edges, cell by cell.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "watch/edges.h"
#include "watch/thumbnail.h"

namespace luminance {

/// The mean squares of the differences of luma between pixels, near and far.
struct Fineness {
  float near = 0, far = 0;
};

/// What is seen in most thumbnails of the last seconds.
struct Look {
  using Thumbnails = std::deque<std::shared_ptr<const Thumbnail>>;
  static constexpr size_t kThumbnails = 5;

  /// Takes exactly kThumbnails thumbnails.
  explicit Look(const Thumbnails &thumbnails);

  /// Returns the fineness of a cell without that of its noise.
  Fineness fineness(size_t cell) const;
  /// Whether the cell's sharpness can be learned from this look: in the dark, and where noise is as
  /// strong as fine edges, it cannot.
  bool shows_sharpness(size_t cell) const;

  Edges edges;
  CellValues lumas = {};  // means
  std::array<Thumbnail::Detail, Thumbnail::kCells> details;
  bool is_dark = false;  // then what is not seen may still be there
};

/// The scene in one light, such as that of the day or of infrared lamps.
struct Scene {
  Edges edges;
  CellValues lumas = {};
  // Relative to the edges' energy. 0: not known yet.
  std::array<Fineness, Thumbnail::kCells> fineness = {};
  double likeness = 1;  // the usual likeness where edges are in place

  bool has_edges(size_t cell) const;
  /// Whether there are enough edges to recognize it by.
  bool is_recognizable() const;
  /// Whether the numbers are possible for a picture, and suffice to recognize the scene.
  bool is_sound() const;
};

/// How much of a scene is in a look. `in_place`, `elsewhere` and `lost` are shares of the cells
/// that have edges in the scene, and light in the look.
struct Match {
  static constexpr size_t kMinCells = 12;

  Match(const Look &look, const Scene &scene);

  size_t cells = 0;        // cells that could be compared; below kMinCells, nothing is known
  double in_place = 0;     // edges are where they were
  double elsewhere = 0;    // edges are not far from where they were
  double lost = 0;         // edges are missing here and in most of the adjacent cells
  double likeness = 0;     // of the edges that are in place: the median
  double contrast = 0;     // of the edges that are in place, relative to the scene's: the median
  double blur = 0;         // share of the sharpness that is missing where edges are in place
  bool has_edges = false;  // whether the look has edges in at least half as many cells
  bool is_same_shape = false;  // whether cells without their edges have kept their light and dark

 private:
  enum class State { kPlain, kUnlit, kInPlace, kMissing };

  void compare(const Look &look, const Scene &scene);
  void search(const Look &look, const Scene &scene);
  void count_lost();
  void compare_shape(const Look &look, const Scene &scene);
  void ignore_unlit(const Look &look);
  double missing(const Look &look, const Scene &scene, float Fineness::*scale) const;

  std::array<State, Thumbnail::kCells> states_ = {};
};

double median(std::vector<double> values, double without);

}  // namespace luminance
