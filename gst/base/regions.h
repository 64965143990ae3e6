// SPDX-License-Identifier: LGPL-2.1-or-later
// Which parts of a picture become the slots of a batch.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "gst/caps/tensorcaps.h"
#include "gst/meta/region.h"
#include "gst/util/enums.h"
#include "gst/util/properties.h"

namespace cudatensor {

struct RegionSettings {
  RegionSource source = RegionSource::none;
  std::vector<double> list;  // x, y, width, height of one after the other
  RegionUnits units = RegionUnits::pixels;
  std::string roi_type;
  guint tile_columns = 2, tile_rows = 2;
  double tile_overlap = 0.0;
  guint max_batch = 0;
  RegionEdge edge = RegionEdge::clip;

  /// Of a picture; 1 without regions.
  int64_t slots() const;
};

/// Throws Error where the settings cannot work; the text names the property.
void check_regions(const RegionSettings &settings);

/// Sets `found` to the regions of a picture of width × height pixels; without any, all of it. Throws
/// Error where one of the list lies beside it and is to be clipped. Metas of which nothing lies in it
/// have no slot.
void find_regions(const RegionSettings &settings, GstBuffer *picture, int width, int height,
                  FoundRegions &found);

/// `S` has a member `regions`. Which properties ask for other caps is the element's to know.
template <class S>
void add_region_properties(Properties<S> &t, const char *max_batch_blurb) {
  t.add(enum_property("regions", "Regions",
                      "Which parts of the picture become slots of a batch, instead of all of it",
                      region_source_get_type(), static_cast<int>(RegionSource::none)),
        Effect::next_frame, [](S &s) -> RegionSource & { return s.regions.source; });
  t.add(double_list_property("region-list", "Region list",
                             "regions=list: x, y, width, height of each region, one after the "
                             "other (default <>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.regions.list; });
  t.add(enum_property("region-units", "Region units", "Units of region-list",
                      region_units_get_type(), static_cast<int>(RegionUnits::pixels)),
        Effect::next_frame, [](S &s) -> RegionUnits & { return s.regions.units; });
  t.add(string_property("roi-type", "ROI type",
                        "regions=meta: only GstVideoRegionOfInterestMeta of this type; empty = of "
                        "any"),
        Effect::next_frame, [](S &s) -> std::string & { return s.regions.roi_type; });
  t.add(uint_property("tile-columns", "Tile columns", "regions=tiles: tiles side by side", 1,
                      kMostSlots, 2),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.tile_columns; });
  t.add(uint_property("tile-rows", "Tile rows", "regions=tiles: tiles below each other", 1,
                      kMostSlots, 2),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.tile_rows; });
  t.add(double_property("tile-overlap", "Tile overlap",
                        "regions=tiles: share of a tile's side that it has in common with its "
                        "neighbour, from 0 to below 1",
                        0.0, 0.0, 1.0),
        Effect::next_frame, [](S &s) -> double & { return s.regions.tile_overlap; });
  t.add(uint_property("max-batch", "Max batch", max_batch_blurb, 0, kMostSlots, 0),
        Effect::next_frame, [](S &s) -> guint & { return s.regions.max_batch; });
  t.add(enum_property("region-edge", "Region edge",
                      "What becomes of a region that leaves the picture", region_edge_get_type(),
                      static_cast<int>(RegionEdge::clip)),
        Effect::next_frame, [](S &s) -> RegionEdge & { return s.regions.edge; });
}

}  // namespace cudatensor
