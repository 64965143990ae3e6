// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr guint kSlotsForMetas = 16;

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::settings, text); }

/// Of the list or of the tiles.
int64_t fixed_count(const RegionSettings &s) {
  if (s.source == RegionSource::list) return static_cast<int64_t>(s.list.size() / 4);
  return s.source == RegionSource::tiles ? int64_t{s.tile_columns} * s.tile_rows : 0;
}

void check_list(const RegionSettings &s) {
  if (s.list.empty() || s.list.size() % 4 != 0)
    refuse("region-list has " + std::to_string(s.list.size()) +
           " values; it needs x, y, width and height of each region");
  for (size_t i = 0; i < s.list.size(); ++i)
    if (!std::isfinite(s.list[i]) || (i % 4 >= 2 && s.list[i] <= 0.0))
      refuse("region-list holds " + std::to_string(s.list[i]) +
             (i % 4 < 2 ? " as a position" : " as a width or height"));
}

/// One of the list or of the tiles, of a picture.
Region listed(const RegionSettings &s, size_t i, int width, int height) {
  const bool fractions = s.units == RegionUnits::fractions;
  const double x = fractions ? width : 1.0, y = fractions ? height : 1.0;
  const double *const r = &s.list[4 * i];
  return {x * r[0], y * r[1], x * r[2], y * r[3]};
}

struct Stretch {
  double begin, length;
};

/// One of `count` that share `overlap` of their length with the next and fill `length`.
Stretch tile_along(guint i, guint count, double overlap, int length) {
  const double share = 1.0 - overlap;
  const double side = length / (1.0 + (count - 1) * share);
  return {i * share * side, side};
}

Region tile(const RegionSettings &s, guint i, int width, int height) {
  const Stretch x = tile_along(i % s.tile_columns, s.tile_columns, s.tile_overlap, width);
  const Stretch y = tile_along(i / s.tile_columns, s.tile_rows, s.tile_overlap, height);
  return {x.begin, y.begin, x.length, y.length};
}

FoundRegions find_listed(const RegionSettings &s, int width, int height) {
  FoundRegions found;
  for (size_t i = 0; i < s.list.size() / 4; ++i) {
    const Region region = listed(s, i, width, height);
    const auto clipped = clip(region, width, height);
    if (s.edge == RegionEdge::clip && !clipped)
      refuse("region " + std::to_string(i) + " of region-list lies beside the picture of " +
             std::to_string(width) + "x" + std::to_string(height));
    found.regions.push_back({s.edge == RegionEdge::clip ? *clipped : region, ""});
  }
  return found;
}

/// What is rounded beyond the picture's edge is none of it.
FoundRegions find_tiles(const RegionSettings &s, int width, int height) {
  FoundRegions found;
  for (guint i = 0; i < fixed_count(s); ++i)
    found.regions.push_back({clip(tile(s, i, width, height), width, height).value(), ""});
  return found;
}

FoundRegions find_metas(const RegionSettings &s, GstBuffer *picture, int width, int height) {
  const GQuark wanted = s.roi_type.empty() ? 0 : g_quark_from_string(s.roi_type.c_str());
  FoundRegions found;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             picture, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    if (wanted != 0 && roi->roi_type != wanted) continue;
    const Region region = {double(roi->x), double(roi->y), double(roi->w), double(roi->h)};
    const auto clipped = clip(region, width, height);
    if (!clipped) continue;
    if (static_cast<int64_t>(found.regions.size()) == s.slots()) {
      ++found.left_out;
      continue;
    }
    const gchar *type = g_quark_to_string(roi->roi_type);
    found.regions.push_back({s.edge == RegionEdge::clip ? *clipped : region,
                             type != nullptr ? type : "", roi->id, roi->parent_id});
  }
  return found;
}

}  // namespace

int64_t RegionSettings::slots() const {
  if (source == RegionSource::none) return 1;
  if (max_batch != 0) return max_batch;
  return source == RegionSource::meta ? kSlotsForMetas : std::max<int64_t>(fixed_count(*this), 1);
}

void check_regions(const RegionSettings &s) {
  if (s.source == RegionSource::list) check_list(s);
  // Not a number is none of these either.
  if (!(s.tile_overlap >= 0.0 && s.tile_overlap < 1.0))
    refuse("tile-overlap is " + std::to_string(s.tile_overlap) + ", not from 0 to below 1");
  const int64_t count = fixed_count(s), most = std::min<int64_t>(s.slots(), kMostSlots);
  if (count > most)
    refuse(std::to_string(count) + " regions for the " + std::to_string(most) +
           " slots that max-batch allows");
}

FoundRegions find_regions(const RegionSettings &s, GstBuffer *picture, int width, int height) {
  switch (s.source) {
    case RegionSource::list: return find_listed(s, width, height);
    case RegionSource::tiles: return find_tiles(s, width, height);
    default: return find_metas(s, picture, width, height);
  }
}

}  // namespace cudatensor
