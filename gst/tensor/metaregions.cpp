// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/metaregions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "gst/analytics/detections.h"
#include "gst/analytics/keypoints.h"
#include "gst/meta/regionpoints.h"

namespace cudatensor {
namespace {

struct Candidate {
  GQuark type;
  Box box;
  std::optional<double> confidence;
  std::optional<Roi> interest;
  std::optional<Detection> detection;
  std::vector<Point> points;  // samples at whole numbers; none unless regions are aligned
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

std::vector<Candidate> interests_of(GstBuffer *picture, size_t points) {
  std::vector<Candidate> found;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             picture, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    found.push_back({roi->roi_type, box_of(*roi), confidence_of(roi), roi_of(roi), std::nullopt,
                     points_of(*roi, points)});
  }
  return found;
}

/// Adds the detection to the region of interest of the same object, and returns whether there is
/// one: DL Streamer attaches both metas to each object.
bool join_interest(std::vector<Candidate> &interests, const Candidate &detected) {
  for (Candidate &each : interests) {
    if (each.detection || each.type != detected.type || !(each.box == detected.box)) continue;
    each.detection = detected.detection;
    each.confidence = detected.confidence;
    if (each.points.empty()) each.points = detected.points;
    return true;
  }
  return false;
}

Candidate candidate_of(const Detection &each, std::vector<Point> points = {}) {
  return {each.type, each.box, each.confidence, std::nullopt, each, std::move(points)};
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

/// Returns the objects of the metas, with their points if they have `points` of them.
std::vector<Candidate> candidates_of(const RegionMetas &metas, size_t points) {
  if (metas.objects != nullptr) return candidates_of(*metas.objects);
  std::vector<Candidate> found = interests_of(metas.buffer, points), detected;
  const Keypoints keypoints = points != 0 ? Keypoints(metas.buffer) : Keypoints();
  for (const Detection &each : detections_of(metas.buffer)) {
    const Candidate object = candidate_of(each, keypoints.of(each.id, points));
    if (!join_interest(found, object)) detected.push_back(object);
  }
  found.insert(found.end(), detected.begin(), detected.end());
  return found;
}

/// Whether the slot shows a turned box.
bool is_turned(const RegionSettings &s, const Candidate &each) {
  return s.turns() && each.detection && each.detection->turned;
}

struct Size {
  double width, height;
};

Size size_of(const Box &box) {
  return {static_cast<double>(box.width), static_cast<double>(box.height)};
}

/// Returns the size of the region of the meta itself.
Size sides_of(const RegionSettings &s, const Candidate &each) {
  return size_of(is_turned(s, each) ? each.detection->turned->box : each.box);
}

/// Sides below 0 count as 0.
bool has_wanted_size(const RegionSettings &s, const Size &size) {
  const auto [shorter, longer] = std::minmax(size.width, size.height);
  return std::max(shorter, 0.0) >= s.min_size && (s.max_size == 0 || longer <= s.max_size);
}

Size enlarged(const RegionSettings &s, const Size &size) {
  const double width = size.width * (1.0 + s.expand), height = size.height * (1.0 + s.expand);
  const double longer = std::max(width, height);
  return s.square ? Size{longer, longer} : Size{width, height};
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
  return s.aligns() || has_wanted_size(s, sides_of(s, each));
}

/// Returns the box enlarged around its center as the settings ask.
Region region_of(const RegionSettings &s, const Box &box) {
  const Size size = enlarged(s, size_of(box));
  return {box.x + (box.width - size.width) / 2.0, box.y + (box.height - size.height) / 2.0,
          size.width, size.height};
}

OrientedBox oriented_box_of(const RegionSettings &s, const TurnedBox &turned) {
  const Box &box = turned.box;
  const Size size = enlarged(s, size_of(box));
  return {box.x + box.width / 2.0, box.y + box.height / 2.0, size.width, size.height,
          turned.radians};
}

/// Makes the regions of one picture.
class Finder {
 public:
  Finder(const RegionSettings &s, const Source &source, const SlotShape &shape, FoundRegions &found)
      : s_(s), source_(source), shape_(shape), template_(s.template_points()), found_(found) {}

  void add(const Candidate &each) {
    if (s_.aligns()) return add_aligned(each);
    if (is_turned(s_, each)) return add_upright(each);
    add_box(each);
  }

 private:
  void add_aligned(const Candidate &each) {
    const auto matrix = aligned(each.points, template_, source_.image, source_.direction,
                                shape_.width, shape_.height);
    add(each, matrix, matrix && shows(*matrix, shape_.width, shape_.height, source_.image));
  }

  void add_upright(const Candidate &each) {
    const OrientedBox box = oriented_box_of(s_, *each.detection->turned);
    add(each, upright(box, shape_.fit, shape_.width, shape_.height), touches(box, source_.image));
  }

  void add(const Candidate &each, const std::optional<Matrix> &matrix, bool is_in_picture) {
    if (!matrix)
      ++found_.left_out;
    else if (is_in_picture)
      found_.regions.push_back({{}, each.interest, each.detection, false, {}, matrix});
  }

  void add_box(const Candidate &each) {
    const Region asked = region_of(s_, each.box);
    const auto clipped = clip(asked, source_.image.width, source_.image.height);
    if (!clipped) return;
    const Region region = s_.edge == RegionEdge::pad ? asked : *clipped;
    if (is_region(region)) found_.regions.push_back({region, each.interest, each.detection, false});
  }

  const RegionSettings &s_;
  const Source &source_;
  const SlotShape &shape_;
  const std::vector<Point> template_;
  FoundRegions &found_;
};

}  // namespace

void find_meta_regions(const RegionSettings &s, const RegionMetas &metas, const Source &source,
                       const SlotShape &shape, FoundRegions &found) {
  Finder finder(s, source, shape, found);
  const size_t points = s.aligns() ? s.align.size() / 2 : 0;
  for (const Candidate &each : candidates_of(metas, points))
    if (is_wanted(s, each)) finder.add(each);
}

}  // namespace cudatensor
