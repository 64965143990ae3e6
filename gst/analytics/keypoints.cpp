// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/analytics/keypoints.h"

#include <optional>

namespace cudatensor {

using namespace gstanalytics;

namespace {

/// Returns the position of a keypoint; no value for a result of another kind.
std::optional<Point> position_of(const Library &l, const Mtd &mtd) {
  if (l.mtd_get_mtd_type(&mtd) != l.keypoint_mtd_get_mtd_type()) return std::nullopt;
  gint x = 0, y = 0, z = 0;
  KeypointDimensions dimensions = 0;
  if (!l.keypoint_mtd_get_position(&mtd, &x, &y, &z, &dimensions)) return std::nullopt;
  return Point{static_cast<double>(x), static_cast<double>(y)};
}

}  // namespace

Keypoints::Keypoints(GstBuffer *buffer) {
  RelationMeta *meta = relation_meta_of(buffer);
  if (meta != nullptr) *this = Keypoints(*library(), meta);
}

Keypoints::Keypoints(const Library &l, RelationMeta *meta) : library_(&l), meta_(meta) {
  if (l.keypoint_mtd_get_position == nullptr || l.group_mtd_get_member == nullptr) return;
  const guint count = static_cast<guint>(l.relation_get_length(meta));
  for (guint id = 0; id < count; ++id) {
    Mtd mtd = {};
    if (!l.relation_meta_get_mtd(meta, id, 0, &mtd)) continue;
    if (l.mtd_get_mtd_type(&mtd) == l.group_mtd_get_mtd_type())
      groups_.push_back({id, members_of(mtd)});
    else if (const auto point = position_of(l, mtd))
      singles_.push_back({id, *point});
  }
}

/// Returns the keypoints of a group; its other members are left out.
std::vector<Point> Keypoints::members_of(const Mtd &group) const {
  std::vector<Point> points;
  const gsize count = library_->relation_get_length(meta_);
  Mtd member = {};
  for (gsize i = 0; library_->group_mtd_get_member(&group, i, &member); ++i) {
    // Nothing keeps a group from holding ids that there are not.
    const auto point = member.id < count ? position_of(*library_, member) : std::nullopt;
    if (point) points.push_back(*point);
  }
  return points;
}

bool Keypoints::are_related(guint a, guint b) const {
  return library_->relation_meta_get_relation(meta_, a, b) != 0 ||
         library_->relation_meta_get_relation(meta_, b, a) != 0;
}

std::vector<Point> Keypoints::of(guint object, size_t count) const {
  for (const Group &group : groups_)
    if (group.points.size() == count && are_related(object, group.id)) return group.points;
  std::vector<Point> points;
  for (const Single &single : singles_)
    if (are_related(object, single.id)) points.push_back(single.point);
  return points.size() == count ? points : std::vector<Point>();
}

}  // namespace cudatensor
