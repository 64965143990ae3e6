// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/carriedmetas.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "gst/analytics/gstanalyticslibrary.h"
#include "gst/meta/inputmeta.h"
#include "gst/meta/objectplaces.h"
#include "gst/meta/region.h"
#include "gst/meta/regionpoints.h"

namespace cudatensor {
namespace {

/// Adds a region that `map` has mapped to `box`.
void add_interest(const GstVideoRegionOfInterestMeta &in, GstBuffer *out, const Box &box,
                  const BoxMap &map) {
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta_id(
      out, in.roi_type, static_cast<guint>(box.x), static_cast<guint>(box.y),
      static_cast<guint>(box.width), static_cast<guint>(box.height));
  meta->id = in.id;
  meta->parent_id = in.parent_id;
  for (const GList *l = in.params; l != nullptr; l = l->next)
    gst_video_region_of_interest_meta_add_param(
        meta, map_parameter(static_cast<const GstStructure *>(l->data), map));
}

int limited(guint value) { return static_cast<int>(std::min(value, 1U << 30)); }

/// Maps a region of interest to the output. It may extend any distance beyond the right and lower
/// edge of the picture.
std::optional<Box> forward(const GstVideoRegionOfInterestMeta &in, const BoxMap &map) {
  const Box region = {limited(in.x), limited(in.y), limited(in.w), limited(in.h)};
  return map_box_clipped(map, region, Rounding::outwards);
}

void carry_interest(const GstVideoRegionOfInterestMeta &in, GstBuffer *out, const BoxMap &map) {
  const auto box = forward(in, map);
  if (box) add_interest(in, out, *box, map);
}

void carry_crop(const GstVideoCropMeta &in, GstBuffer *out, const BoxMap &map) {
  const Box crop = {limited(in.x), limited(in.y), limited(in.width), limited(in.height)};
  const auto box = map_box_clipped(map, crop, Rounding::outwards);
  if (!box) return;
  GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta(out);
  meta->x = static_cast<guint>(box->x);
  meta->y = static_cast<guint>(box->y);
  meta->width = static_cast<guint>(box->width);
  meta->height = static_cast<guint>(box->height);
}

using Interests = std::vector<const GstVideoRegionOfInterestMeta *>;

Interests interests_of(GstBuffer *buffer) {
  Interests found;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    found.push_back(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta));
  return found;
}

/// Whether two boxes are equal apart from rounding: elements in between may have scaled the picture
/// and rounded differently.
bool is_near(const Box &a, const Box &b) {
  constexpr int kPixels = 2;
  return std::abs(a.x - b.x) <= kPixels && std::abs(a.y - b.y) <= kPixels &&
         std::abs(a.width - b.width) <= kPixels && std::abs(a.height - b.height) <= kPixels;
}

/// Removes from `known`, the frame's regions, the one that `found` was mapped from. Returns false
/// if there is none.
bool take_same(Interests &known, const GstVideoRegionOfInterestMeta &found, const BoxMap &map) {
  const auto same = std::find_if(known.begin(), known.end(), [&](const auto *each) {
    if (each->roi_type != found.roi_type || each->id != found.id ||
        each->parent_id != found.parent_id)
      return false;
    const auto expected = forward(*each, map);
    return expected && is_near(*expected, box_of(found));
  });
  if (same == known.end()) return false;
  known.erase(same);
  return true;
}

void carry_interests_back(GstBuffer *picture, GstBuffer *frame, const BoxMap &map) {
  Interests known = interests_of(frame);
  const BoxMap back = inverse_of(map);
  ObjectPlaces places(picture, back);
  for (const GstVideoRegionOfInterestMeta *found : interests_of(picture)) {
    if (take_same(known, *found, map)) continue;
    auto box = places.take(found->roi_type, box_of(*found));
    if (!box) box = map_box_clipped(back, box_of(*found), Rounding::nearest);
    if (box) add_interest(*found, frame, *box, back);
  }
}

}  // namespace

std::vector<SameResult> carry_metas(GstBuffer *in, GstBuffer *out, const BoxMap &map) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(in, &state)) {
    if (meta->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
      carry_interest(*reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta), out, map);
    else if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE)
      carry_crop(*reinterpret_cast<GstVideoCropMeta *>(meta), out, map);
  }
  std::vector<SameResult> results = carry_relations(in, out, map);
  carry_input(in, out, map, results);
  return results;
}

void carry_back(GstBuffer *picture, GstBuffer *frame, const BoxMap &map,
                const std::vector<SameResult> &same) {
  carry_interests_back(picture, frame, map);
  const BoxMap back = inverse_of(map);
  ObjectPlaces places(picture, back);
  carry_relations(picture, frame, back, same,
                  [&](GQuark type, const Box &box) { return places.take(type, box); });
  add_object_metas(frame, places.small());
}

bool is_carried_meta(GType api) {
  return api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE || api == GST_VIDEO_CROP_META_API_TYPE ||
         api == input_meta_api() ||
         (api != G_TYPE_INVALID && api == gstanalytics::relation_meta_api());
}

}  // namespace cudatensor
