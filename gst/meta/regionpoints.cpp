// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/regionpoints.h"

#include "gst/util/values.h"

namespace cudatensor {
namespace {

/// Returns no points if the structure is another parameter or has no pairs of numbers.
std::vector<Point> read_points(const GstStructure *parameter) {
  std::vector<Point> points;
  if (!gst_structure_has_name(parameter, "points")) return points;
  const auto x = numbers_of(parameter, "x"), y = numbers_of(parameter, "y");
  if (!x || !y || x->size() != y->size()) return points;
  for (size_t i = 0; i < x->size(); ++i) points.push_back({(*x)[i], (*y)[i]});
  return points;
}

}  // namespace

std::vector<Point> points_of(const GstVideoRegionOfInterestMeta &roi, size_t count) {
  if (count == 0) return {};
  for (const GList *l = roi.params; l != nullptr; l = l->next) {
    std::vector<Point> points = read_points(static_cast<const GstStructure *>(l->data));
    if (points.size() == count) return points;
  }
  return {};
}

GstStructure *map_parameter(const GstStructure *parameter, const BoxMap &map) {
  GstStructure *copy = gst_structure_copy(parameter);
  const std::vector<Point> points = read_points(parameter);
  if (points.empty()) return copy;
  std::vector<double> x, y;
  for (const Point &p : points) {
    const Point center = mapped(map.matrix, {p.x + 0.5, p.y + 0.5});
    x.push_back(center.x - 0.5);
    y.push_back(center.y - 0.5);
  }
  set_array(copy, "x", x, G_TYPE_DOUBLE, g_value_set_double);
  set_array(copy, "y", y, G_TYPE_DOUBLE, g_value_set_double);
  return copy;
}

}  // namespace cudatensor
