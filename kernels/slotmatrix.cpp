// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/slotmatrix.h"

#include <algorithm>
#include <cmath>

#include "kernels/error.h"
#include "kernels/matrixplan.h"

namespace cudatensor {
namespace {

std::optional<Matrix> if_possible(const Matrix &matrix, int width, int height) {
  try {
    check_matrix(matrix, width, height);
    return matrix;
  } catch (const Error &) {
    return std::nullopt;
  }
}

struct Scales {
  double x, y;
};

Scales scales_of(const OrientedBox &box, const Fit &fit, int width, int height) {
  const Scales each = {width / box.width, height / box.height};
  if (fit.mode == ResizeMode::stretch) return each;
  const double both = std::min(each.x, each.y);
  const double k = fit.scale_up ? both : std::min(both, 1.0);
  return {k, k};
}

/// Returns the matrix that shows the box upright, its center at that of a slot of this size.
Matrix turn(const OrientedBox &box, Scales k, double width, double height) {
  const double c = std::cos(box.radians), s = std::sin(box.radians);
  return {k.x * c,  k.x * s, width / 2.0 - k.x * (c * box.center_x + s * box.center_y),
          -k.y * s, k.y * c, height / 2.0 - k.y * (c * box.center_y - s * box.center_x)};
}

/// Written so that NaN has no area.
bool has_area(const OrientedBox &box) { return box.width > 0.0 && box.height > 0.0; }

bool overlaps(const Region &region, double width, double height) {
  return region.x < width && region.x + region.width > 0.0 && region.y < height &&
         region.y + region.height > 0.0;
}

Point mean_of(const std::vector<Point> &points) {
  Point sum = {};
  for (const Point &p : points) sum = {sum.x + p.x, sum.y + p.y};
  const auto count = static_cast<double>(points.size());
  return {sum.x / count, sum.y / count};
}

/// The mean of equal points is rounded, so that their deviations from it need not be 0.
bool are_equal(const std::vector<Point> &points) {
  return std::all_of(points.begin(), points.end(), [&](const Point &p) {
    return p.x == points.front().x && p.y == points.front().y;
  });
}

/// Returns points in continuous coordinates, of points with samples at whole numbers.
std::vector<Point> centers_of(const std::vector<Point> &samples) {
  std::vector<Point> points;
  points.reserve(samples.size());
  for (const Point &p : samples) points.push_back({p.x + 0.5, p.y + 0.5});
  return points;
}

}  // namespace

std::optional<Matrix> upright(const OrientedBox &box, const Fit &fit, int width, int height) {
  if (!has_area(box)) return std::nullopt;
  return if_possible(turn(box, scales_of(box, fit, width, height), width, height), width, height);
}

bool touches(const OrientedBox &box, const ImageDesc &picture) {
  return has_area(box) &&
         shows(turn(box, {1.0, 1.0}, box.width, box.height), box.width, box.height, picture);
}

std::optional<Matrix> similarity(const std::vector<Point> &from, const std::vector<Point> &to) {
  if (from.size() != to.size() || from.empty() || are_equal(from)) return std::nullopt;
  const Point p = mean_of(from), q = mean_of(to);
  double along = 0.0, across = 0.0, spread = 0.0;
  for (size_t i = 0; i < from.size(); ++i) {
    const Point u = {from[i].x - p.x, from[i].y - p.y}, v = {to[i].x - q.x, to[i].y - q.y};
    along += u.x * v.x + u.y * v.y;
    across += u.x * v.y - u.y * v.x;
    spread += u.x * u.x + u.y * u.y;
  }
  const double a = along / spread, b = across / spread;
  return Matrix{a, -b, q.x - (a * p.x - b * p.y), b, a, q.y - (b * p.x + a * p.y)};
}

std::optional<Matrix> aligned(const std::vector<Point> &points,
                              const std::vector<Point> &template_points, const ImageDesc &stored,
                              Direction direction, int width, int height) {
  const Matrix turned = seen_from_stored(stored, direction);
  std::vector<Point> from = centers_of(points);
  for (Point &p : from) p = mapped(turned, p);
  const auto fit = similarity(from, centers_of(template_points));
  return fit ? if_possible(product(*fit, turned), width, height) : std::nullopt;
}

/// Two parallelograms overlap unless a side of one separates them.
bool shows(const Matrix &matrix, double width, double height, const ImageDesc &picture) {
  return overlaps(box_around(inverse_of(matrix), width, height), picture.width, picture.height) &&
         overlaps(box_around(matrix, picture.width, picture.height), width, height);
}

}  // namespace cudatensor
