// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/regions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gst/tensor/metaregions.h"
#include "kernels/error.h"
#include "kernels/matrixplan.h"

namespace cudatensor {
namespace {

constexpr guint kDefaultMetaSlots = 16;

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::settings, text); }

/// Returns the number of regions that a list or the tile grid defines; 0 for the other sources.
int64_t fixed_count(const RegionSettings &s) {
  switch (s.source) {
    case RegionSource::list: return static_cast<int64_t>(s.list.size() / 4);
    case RegionSource::matrices: return static_cast<int64_t>(s.matrices.size() / 6);
    case RegionSource::tiles: return int64_t{s.tile_columns} * s.tile_rows;
    case RegionSource::none:
    case RegionSource::meta: break;
  }
  return 0;
}

std::string text_of(size_t i, const Region &r) {
  char text[128];
  std::snprintf(text, sizeof text, "region %zu of region-list, %gx%g pixels at %g,%g, ", i, r.width,
                r.height, r.x, r.y);
  return text;
}

/// Returns whether a region in pixels could lie in any picture.
bool is_possible(const RegionSettings &s, const Region &r) {
  return s.edge == RegionEdge::pad ? is_region(r) : r.width >= kMinSide && r.height >= kMinSide;
}

void check_list(const RegionSettings &s) {
  if (s.list.empty() || s.list.size() % 4 != 0)
    refuse("region-list has " + std::to_string(s.list.size()) +
           " values; it must have four for each region: x, y, width, height");
  for (size_t i = 0; i < s.list.size(); ++i)
    if (!std::isfinite(s.list[i]) || (i % 4 >= 2 && s.list[i] <= 0.0))
      refuse("region-list has the invalid value " + std::to_string(s.list[i]) +
             (i % 4 < 2 ? " as a position" : " as a width or height"));
  for (size_t i = 0; s.units == RegionUnits::pixels && i < s.list.size() / 4; ++i) {
    const double *const r = &s.list[4 * i];
    const Region region = {r[0], r[1], r[2], r[3]};
    if (!is_possible(s, region)) refuse(text_of(i, region) + "is too small or too far away");
  }
}

void check_template(const RegionSettings &s) {
  if (s.align.size() % 2 != 0 || s.align.size() < 4)
    refuse("region-align has " + std::to_string(s.align.size()) +
           " values; it must have two for each of two or more points: x, y");
  if (!std::all_of(s.align.begin(), s.align.end(), [](double x) { return std::isfinite(x); }))
    refuse("region-align holds a value that is not finite");
  const std::vector<Point> points = s.template_points();
  if (!similarity(points, points)) refuse("the points of region-align are all equal");
}

/// Snaps ends that miss a whole pixel only by rounding error. Otherwise one more pixel would be
/// read.
Extent on_pixels(double begin, double end) {
  const auto snapped = [](double x) {
    const double whole = std::round(x);
    return std::abs(x - whole) < 1e-6 ? whole : x;
  };
  return {snapped(begin), snapped(end) - snapped(begin)};
}

Region region_of(Extent x, Extent y) { return {x.begin, y.begin, x.length, y.length}; }

/// Returns region `i` of region-list, in pixels of the picture.
Region listed(const RegionSettings &s, size_t i, int width, int height) {
  const double *const r = &s.list[4 * i];
  if (s.units == RegionUnits::pixels) return {r[0], r[1], r[2], r[3]};
  return region_of(on_pixels(width * r[0], width * (r[0] + r[2])),
                   on_pixels(height * r[1], height * (r[1] + r[3])));
}

/// Returns tile `i` of `count` tiles that together cover `length`; each overlaps the next by the
/// fraction `overlap` of its length.
Extent tile_along(guint i, guint count, double overlap, int length) {
  const double share = 1.0 - overlap;
  const double side = length / (1.0 + (count - 1) * share);
  return on_pixels(i * share * side, i * share * side + side);
}

Region tile(const RegionSettings &s, guint i, int width, int height) {
  return region_of(tile_along(i % s.tile_columns, s.tile_columns, s.tile_overlap, width),
                   tile_along(i / s.tile_columns, s.tile_rows, s.tile_overlap, height));
}

/// Sets `reason` for regions outside the picture instead of throwing: the list may be made for the
/// larger picture of a camera that has fallen back to a smaller stream.
void find_list_regions(const RegionSettings &s, int width, int height, FoundRegions &found) {
  for (size_t i = 0; i < s.list.size() / 4; ++i) {
    const Region region = listed(s, i, width, height);
    const bool clips = s.edge == RegionEdge::clip;
    const auto clipped = clip(region, width, height);
    const auto shown = clips ? clipped : is_region(region) ? std::optional(region) : std::nullopt;
    found.regions.push_back({shown.value_or(Region{}), {}, {}, !shown});
    if (shown || !found.reason.empty()) continue;
    const std::string picture =
        "the picture of " + std::to_string(width) + "x" + std::to_string(height);
    found.reason = text_of(i, region) +
                   (clips ? "lies outside " + picture : "is too small or too far from " + picture);
  }
}

void find_matrices(const RegionSettings &s, FoundRegions &found) {
  for (int64_t i = 0; i < fixed_count(s); ++i) {
    found.regions.push_back({});
    found.regions.back().matrix = s.matrix(static_cast<size_t>(i));
  }
}

/// Finds tiles of the seen picture. Clips them, because rounding may move an edge beyond it.
void find_tiles(const RegionSettings &s, const Source &source, FoundRegions &found) {
  const ImageDesc picture = source.seen();
  for (guint i = 0; i < fixed_count(s); ++i) {
    const auto clipped =
        clip(tile(s, i, picture.width, picture.height), picture.width, picture.height);
    // Not computed back from the stored region, which is rounded.
    const Region &turned = clipped.value();
    found.regions.push_back(
        {seen(turned, picture, inverse_of(source.direction)), {}, {}, false, turned});
  }
}

}  // namespace

Matrix RegionSettings::matrix(size_t i) const {
  Matrix m;
  std::copy_n(matrices.begin() + static_cast<ptrdiff_t>(6 * i), 6, m.begin());
  return m;
}

std::vector<Point> RegionSettings::template_points() const {
  std::vector<Point> points;
  for (size_t i = 0; i + 1 < align.size(); i += 2) points.push_back({align[i], align[i + 1]});
  return points;
}

int64_t RegionSettings::slots() const {
  if (source == RegionSource::none) return 1;
  if (max_batch != 0) return max_batch;
  if (source == RegionSource::meta) return kDefaultMetaSlots;
  // check_regions() rejects counts outside this range.
  return std::clamp<int64_t>(fixed_count(*this), 1, kMaxSlots);
}

void check_regions(const RegionSettings &s) {
  if (s.source == RegionSource::none) return;
  if (s.source == RegionSource::list) check_list(s);
  if (s.source == RegionSource::matrices && (s.matrices.empty() || s.matrices.size() % 6 != 0))
    refuse("region-matrices has " + std::to_string(s.matrices.size()) +
           " values; it must have six for each slot");
  if (s.aligns()) check_template(s);
  const bool is_grid = s.source == RegionSource::list || s.source == RegionSource::tiles;
  if (is_grid && s.edge == RegionEdge::repeat)
    refuse("region-edge=repeat cannot be combined with regions=list or tiles");
  // Written so that NaN is rejected too.
  if (!(s.tile_overlap >= 0.0 && s.tile_overlap < 1.0))
    refuse("expected a tile-overlap of at least 0 and less than 1, got " +
           std::to_string(s.tile_overlap));
  const int64_t count = fixed_count(s);
  if (count > s.slots())
    refuse("expected at most " + std::to_string(s.slots()) + " regions, as max-batch allows, got " +
           std::to_string(count));
}

void check_matrices(const RegionSettings &s, int width, int height) {
  if (s.source != RegionSource::matrices) return;
  for (int64_t i = 0; i < fixed_count(s); ++i) {
    try {
      check_matrix(s.matrix(static_cast<size_t>(i)), width, height);
    } catch (const Error &error) {
      throw Error(error.code(), "slot " + std::to_string(i) + ": " + error.what());
    }
  }
}

void find_regions(const RegionSettings &s, const RegionMetas &metas, const Source &source,
                  const SlotShape &shape, FoundRegions &found) {
  const int width = source.image.width, height = source.image.height;
  found.clear();
  found.is_whole = s.source == RegionSource::none;
  switch (s.source) {
    case RegionSource::none: found.regions.push_back({whole(source.image), {}, {}, false}); break;
    case RegionSource::list: find_list_regions(s, width, height, found); break;
    case RegionSource::tiles: find_tiles(s, source, found); break;
    case RegionSource::matrices: find_matrices(s, found); break;
    case RegionSource::meta: find_meta_regions(s, metas, source, shape, found); break;
  }
  if (s.source == RegionSource::tiles || s.source == RegionSource::matrices) return;
  for (FoundRegion &each : found.regions)
    each.turned = seen(each.region, source.image, source.direction);
}

void limit_regions(const RegionSettings &s, FoundRegions &found) {
  const auto slots = static_cast<size_t>(s.slots());
  if (found.regions.size() <= slots) return;
  found.left_out += static_cast<guint>(found.regions.size() - slots);
  found.regions.resize(slots);
}

}  // namespace cudatensor
