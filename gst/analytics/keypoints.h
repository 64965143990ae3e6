// SPDX-License-Identifier: LGPL-2.1-or-later
// The points of the objects that a buffer carries as GstAnalyticsKeypointMtd (GStreamer 1.30).
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/analytics/gstanalyticslibrary.h"
#include "kernels/matrix.h"

namespace cudatensor {

class Keypoints {
 public:
  /// Has no points.
  Keypoints() = default;
  /// Has no points either if GStreamer is older than 1.30.
  explicit Keypoints(GstBuffer *buffer);
  Keypoints(const gstanalytics::Library &library, gstanalytics::RelationMeta *meta);

  /// Returns the points of an object, with samples at whole numbers, if there are `count` of them:
  /// those of the first such group that is related to it, in the order of the group; without one,
  /// the keypoints that are related to it themselves, in the order of their ids.
  std::vector<Point> of(guint object, size_t count) const;

 private:
  struct Group {
    guint id;
    std::vector<Point> points;
  };
  struct Single {
    guint id;
    Point point;
  };

  std::vector<Point> members_of(const gstanalytics::Mtd &group) const;
  bool are_related(guint a, guint b) const;

  const gstanalytics::Library *library_ = nullptr;
  gstanalytics::RelationMeta *meta_ = nullptr;
  std::vector<Group> groups_;
  std::vector<Single> singles_;
};

}  // namespace cudatensor
