// SPDX-License-Identifier: LGPL-2.1-or-later
// The regions of a picture that become the slots of a batch.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "gst/caps/tensorcaps.h"
#include "gst/meta/region.h"
#include "gst/util/enums.h"
#include "gst/util/properties.h"
#include "kernels/resample.h"
#include "kernels/slotmatrix.h"

namespace cudatensor {

struct RegionSettings {
  RegionSource source = RegionSource::none;
  std::vector<double> list;  // x, y, width, height of each region in turn
  RegionUnits units = RegionUnits::pixels;
  std::string roi_type;
  std::vector<double> matrices;  // six numbers of each slot in turn
  guint tile_columns = 2, tile_rows = 2;
  double tile_overlap = 0.0;
  guint max_batch = 0;
  RegionEdge edge = RegionEdge::clip;
  // Only for the regions of metas:
  double min_confidence = 0.0;
  guint min_size = 0, max_size = 0;  // pixels; a max_size of 0 is no limit
  double expand = 0.0;
  bool square = false;
  bool oriented = false;
  std::vector<double> align;  // x and y of each point of the template in turn

  /// Returns the number of slots for a picture; 1 without regions.
  int64_t slots() const;
  /// Returns matrix `i` of `matrices`.
  Matrix matrix(size_t i) const;
  /// Returns the points of `align`.
  std::vector<Point> template_points() const;
  /// Whether the slots of metas are aligned by points.
  bool aligns() const { return source == RegionSource::meta && !align.empty(); }
  /// Whether the slots of oriented objects are turned upright.
  bool turns() const { return source == RegionSource::meta && oriented && align.empty(); }
};

/// What a slot needs of its region.
struct SlotShape {
  int width, height;
  Fit fit;
};

/// The source of the regions of metas: the metas of a buffer or, for a surface of a batch, the
/// objects that DeepStream found in it.
struct RegionMetas {
  RegionMetas(GstBuffer *buffer) : buffer(buffer) {}  // NOLINT: a buffer is its metas
  explicit RegionMetas(const std::vector<Detection> &objects) : objects(&objects) {}

  GstBuffer *buffer = nullptr;
  const std::vector<Detection> *objects = nullptr;
};

/// Throws Error if the settings are invalid; the message names the property.
void check_regions(const RegionSettings &settings);
/// Throws Error if a matrix cannot make a slot of this size. The message has the slot's number.
void check_matrices(const RegionSettings &settings, int width, int height);

/// Sets `found` to the regions of a picture, or to the whole picture if no regions are requested. A
/// region of the list that is outside the picture keeps its slot, which is not valid; `reason` then
/// names it. Regions of metas that are outside the picture are not among them, and those that no
/// matrix can show are left out; the others may be more than there are slots.
/// All regions are those of the stored picture; tiles are a grid on the seen one.
void find_regions(const RegionSettings &settings, const RegionMetas &metas, const Source &source,
                  const SlotShape &shape, FoundRegions &found);

/// Leaves out the regions that have no slot.
void limit_regions(const RegionSettings &settings, FoundRegions &found);

/// Adds the properties that select and enlarge the regions of metas.
template <class S>
void add_meta_region_properties(Properties<S> &t) {
  t.add(double_property("region-min-confidence", "Region minimum confidence",
                        "regions=meta: skip detections with a lower confidence", 0.0, 0.0, 1.0),
        Effect::next_frame, [](S &s) -> double & { return s.regions.min_confidence; });
  t.add(uint_property("region-min-size", "Region minimum size",
                      "regions=meta: skip regions with a side shorter than this, in pixels", 0,
                      kMaxImageSize, 0),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.min_size; });
  t.add(uint_property("region-max-size", "Region maximum size",
                      "regions=meta: skip regions with a side longer than this, in pixels; 0 = no "
                      "limit",
                      0, kMaxImageSize, 0),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.max_size; });
  t.add(double_property("region-expand", "Region expand",
                        "regions=meta: fraction of a region's width and height that is added to "
                        "them, half of it on each side",
                        0.0, 0.0, 10.0),
        Effect::next_frame, [](S &s) -> double & { return s.regions.expand; });
  t.add(bool_property("region-square", "Region square",
                      "regions=meta: lengthen the shorter side of a region to that of the longer",
                      false),
        Effect::next_frame, [](S &s) -> bool & { return s.regions.square; });
  t.add(bool_property("region-oriented", "Region oriented",
                      "regions=meta: turn oriented detections upright, instead of taking their "
                      "bounding boxes",
                      false),
        Effect::next_frame, [](S &s) -> bool & { return s.regions.oriented; });
  t.add(
      double_list_property(
          "region-align", "Region align",
          "regions=meta: x and y of each point of a template in turn, in pixels of the slot, to "
          "which the points of a region are aligned; regions with another number of points get no "
          "slot (default <>: off)"),
      Effect::next_frame, [](S &s) -> std::vector<double> & { return s.regions.align; });
}

/// Adds the properties of regions. `S` has a member `regions`.
template <class S>
void add_region_properties(Properties<S> &t, const char *max_batch_blurb) {
  t.add(enum_property(
            "regions", "Region source",
            "Source of the regions that become the slots of a batch; none = the whole picture",
            region_source_get_type(), static_cast<int>(RegionSource::none)),
        Effect::next_frame, [](S &s) -> RegionSource & { return s.regions.source; });
  t.add(
      double_list_property("region-list", "Region list",
                           "regions=list: x, y, width, height of each region in turn (default <>)"),
      Effect::next_frame, [](S &s) -> std::vector<double> & { return s.regions.list; });
  t.add(double_list_property(
            "region-matrices", "Region matrices",
            "regions=matrices: six numbers of each slot in turn, the rows of the matrix from the "
            "stored picture to the slot, in pixels (default <>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.regions.matrices; });
  t.add(enum_property("region-units", "Region units", "Unit of the coordinates in region-list",
                      region_units_get_type(), static_cast<int>(RegionUnits::pixels)),
        Effect::next_frame, [](S &s) -> RegionUnits & { return s.regions.units; });
  t.add(string_property(
            "roi-type", "ROI type",
            "regions=meta: use only regions of interest and detections of this type; empty = any"),
        Effect::next_frame, [](S &s) -> std::string & { return s.regions.roi_type; });
  t.add(uint_property("tile-columns", "Tile columns", "regions=tiles: number of tiles in a row", 1,
                      kMaxSlots, 2),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.tile_columns; });
  t.add(uint_property("tile-rows", "Tile rows", "regions=tiles: number of tiles in a column", 1,
                      kMaxSlots, 2),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.tile_rows; });
  t.add(double_property("tile-overlap", "Tile overlap",
                        "regions=tiles: fraction of a tile's side that overlaps its neighbor, at "
                        "least 0 and less than 1",
                        0.0, 0.0, 1.0),
        Effect::next_frame, [](S &s) -> double & { return s.regions.tile_overlap; });
  t.add(uint_property("max-batch", "Max batch", max_batch_blurb, 0, kMaxSlots, 0),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.max_batch; });
  t.add(enum_property("region-edge", "Region edge",
                      "Treatment of a region that extends beyond the picture",
                      region_edge_get_type(), static_cast<int>(RegionEdge::clip)),
        Effect::next_frame, [](S &s) -> RegionEdge & { return s.regions.edge; });
  add_meta_region_properties(t);
}

}  // namespace cudatensor
