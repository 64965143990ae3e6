// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/metaregions.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "gst/analytics/detections.h"

namespace cudatensor {
namespace {

struct Candidate {
  GQuark type;
  Box box;
  std::optional<double> confidence;
  std::optional<Roi> interest;
  std::optional<Detection> detection;
};

Roi roi_of(const GstVideoRegionOfInterestMeta *roi) {
  const gchar *type = g_quark_to_string(roi->roi_type);
  return {type != nullptr ? type : "", roi->id, roi->parent_id};
}

/// Returns the confidence that DL Streamer's detectors write into a parameter of the meta.
std::optional<double> confidence_of(GstVideoRegionOfInterestMeta *roi) {
  const GstStructure *s = gst_video_region_of_interest_meta_get_param(roi, "detection");
  double confidence = 0.0;
  const bool found = s != nullptr && gst_structure_get_double(s, "confidence", &confidence);
  return found ? std::optional<double>(confidence) : std::nullopt;
}

std::vector<Candidate> interests_of(GstBuffer *picture) {
  std::vector<Candidate> found;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             picture, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    found.push_back({roi->roi_type, box_of(*roi), confidence_of(roi), roi_of(roi), std::nullopt});
  }
  return found;
}

/// Adds the detection to the region of interest of the same object, and returns whether there is
/// one: DL Streamer attaches both metas to each object.
bool join_interest(std::vector<Candidate> &interests, const Detection &detection) {
  for (Candidate &each : interests) {
    if (each.detection || each.type != detection.type || !(each.box == detection.box)) continue;
    each.detection = detection;
    each.confidence = detection.confidence;
    return true;
  }
  return false;
}

Candidate candidate_of(const Detection &each) {
  return {each.type, each.box, each.confidence, std::nullopt, each};
}

/// Drops confidences below zero, which DeepStream sets where none was estimated.
std::vector<Candidate> candidates_of(const std::vector<Detection> &objects) {
  std::vector<Candidate> found;
  for (const Detection &each : objects) {
    found.push_back(candidate_of(each));
    if (each.confidence < 0.0f) found.back().confidence.reset();
  }
  return found;
}

std::vector<Candidate> candidates_of(const RegionMetas &metas) {
  if (metas.objects != nullptr) return candidates_of(*metas.objects);
  std::vector<Candidate> found = interests_of(metas.buffer), detected;
  for (const Detection &each : detections_of(metas.buffer))
    if (!join_interest(found, each)) detected.push_back(candidate_of(each));
  found.insert(found.end(), detected.begin(), detected.end());
  return found;
}

/// Returns whether the settings select a region. Regions without a confidence were not estimated,
/// so min_confidence does not apply to them.
bool is_wanted(const RegionSettings &s, const Candidate &each) {
  // g_quark_try_string() returns 0 if no meta of this type has ever been created, and objects
  // without a type have 0, too.
  if (!s.roi_type.empty() &&
      (each.type == 0 || each.type != g_quark_try_string(s.roi_type.c_str())))
    return false;
  // Compared as floats, because detections hold floats and 0.7f is less than 0.7.
  if (each.confidence &&
      static_cast<float>(*each.confidence) < static_cast<float>(s.min_confidence))
    return false;
  const auto [shorter, longer] = std::minmax(each.box.width, each.box.height);
  return shorter >= static_cast<int64_t>(s.min_size) &&
         (s.max_size == 0 || longer <= static_cast<int64_t>(s.max_size));
}

/// Returns the box enlarged around its center as the settings ask.
Region region_of(const RegionSettings &s, const Box &box) {
  double width = box.width * (1.0 + s.expand), height = box.height * (1.0 + s.expand);
  if (s.square) width = height = std::max(width, height);
  return {box.x + (box.width - width) / 2.0, box.y + (box.height - height) / 2.0, width, height};
}

}  // namespace

void find_meta_regions(const RegionSettings &s, const RegionMetas &metas, int width, int height,
                       FoundRegions &found) {
  for (const Candidate &each : candidates_of(metas)) {
    if (!is_wanted(s, each)) continue;
    const Region asked = region_of(s, each.box);
    const auto clipped = clip(asked, width, height);
    if (!clipped) continue;
    const Region region = s.edge == RegionEdge::pad ? asked : *clipped;
    if (is_region(region)) found.regions.push_back({region, each.interest, each.detection, false});
  }
}

}  // namespace cudatensor
