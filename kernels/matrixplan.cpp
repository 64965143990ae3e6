// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/matrixplan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr double kMaxNumber = 0x1p30;
constexpr double kMinDeterminant = 1e-12;

[[noreturn]] void refuse(const Matrix &m, const char *why) {
  char text[256];
  std::snprintf(text, sizeof text, "the matrix %g %g %g, %g %g %g %s", m[0], m[1], m[2], m[3], m[4],
                m[5], why);
  throw Error(Error::Code::settings, text);
}

/// Returns the inverse, each number from the left. Throws if there is none.
Matrix checked_inverse(const Matrix &m) {
  if (!std::all_of(m.begin(), m.end(), [](double x) { return std::isfinite(x); }))
    refuse(m, "holds a number that is not finite");
  const double det = m[0] * m[4] - m[1] * m[3];
  if (!(std::abs(det) >= kMinDeterminant)) refuse(m, "has no inverse");
  return {m[4] / det,  -m[1] / det, (m[1] * m[5] - m[2] * m[4]) / det,
          -m[3] / det, m[0] / det,  (m[2] * m[3] - m[0] * m[5]) / det};
}

/// Makes the positions of one row of the inverse. Throws if a number or the position of a corner
/// pixel is too large.
PositionPlan make_positions(const Matrix &m, const double *row, int width, int height) {
  const auto fits = [](double x) { return std::abs(x) <= kMaxNumber; };
  bool all = fits(row[0]) && fits(row[1]) && fits(row[2]);
  for (const int x : {0, width - 1})
    for (const int y : {0, height - 1})
      all = all && fits(row[0] * (x + 0.5) + row[1] * (y + 0.5) + row[2] - 0.5);
  if (!all) refuse(m, "reads samples more than 2^30 pixels away");
  return {std::llround(row[0] * 0x1p32), std::llround(row[1] * 0x1p32),
          std::llround((row[0] / 2.0 + row[1] / 2.0 + row[2] - 0.5) * 0x1p32)};
}

MatrixAxis make_axis(const PositionPlan &position, int length, Chroma chroma) {
  return {position, length, component_length(chroma.shift, 1, length), chroma};
}

struct Span {
  int begin, length;
};

/// Rounds an interval outwards and clips it.
Span covered(double begin, double length, int limit) {
  const double first = std::clamp(std::floor(begin), 0.0, static_cast<double>(limit));
  const double end = std::clamp(std::ceil(begin + length), first, static_cast<double>(limit));
  return {static_cast<int>(first), static_cast<int>(end - first)};
}

Geometry make_geometry_of(const ImageDesc &image, const Matrix &m, const Matrix &inverse, int width,
                          int height) {
  Geometry g = {};
  g.mode = ResizeMode::affine;
  g.src_width = image.width;
  g.src_height = image.height;
  g.region = box_around(inverse, width, height);
  g.dst_width = width;
  g.dst_height = height;
  g.slot = {true, m, inverse};
  const Region content = box_around(m, image.width, image.height);
  const Span x = covered(content.x, content.width, width);
  const Span y = covered(content.y, content.height, height);
  g.pad_left = x.begin;
  g.pad_top = y.begin;
  g.content_width = x.length;
  g.content_height = y.length;
  return g;
}

}  // namespace

Region box_around(const Matrix &m, double width, double height) {
  const double x[] = {0.0, width}, y[] = {0.0, height};
  const auto extent = [&](const double *row) {
    const auto at = [&](int i, int j) { return row[0] * x[i] + row[1] * y[j] + row[2]; };
    const auto [low, high] = std::minmax({at(0, 0), at(1, 0), at(0, 1), at(1, 1)});
    return Extent{low, high - low};
  };
  const Extent across = extent(&m[0]), down = extent(&m[3]);
  return {across.begin, down.begin, across.length, down.length};
}

void check_matrix(const Matrix &matrix, int dst_width, int dst_height) {
  const Matrix inverse = checked_inverse(matrix);
  for (const int row : {0, 3}) make_positions(matrix, &inverse[row], dst_width, dst_height);
}

MatrixPlan make_matrix_plan(const Source &source, const Resize &resize, Color color, int dst_width,
                            int dst_height, const Matrix &matrix, bool repeats_edge) {
  const ImageDesc &image = source.image;
  check_size("an input", image.width, image.height);
  check_size("an output", dst_width, dst_height);
  check_resize(resize, color);
  if (resize.antialias)
    throw Error(Error::Code::settings, "a slot by a matrix cannot be combined with antialias=true");
  // The matrix maps the stored picture.
  Source stored = source;
  stored.direction = Direction::identity;
  const Matrix inverse = checked_inverse(matrix);
  MatrixPlan plan = {};
  plan.conversion = make_conversion_plan(stored, resize, color);
  plan.conversion.geometry = make_geometry_of(image, matrix, inverse, dst_width, dst_height);
  const ChromaAxes &chroma = plan.conversion.chroma;
  plan.x =
      make_axis(make_positions(matrix, &inverse[0], dst_width, dst_height), image.width, chroma.x);
  plan.y =
      make_axis(make_positions(matrix, &inverse[3], dst_width, dst_height), image.height, chroma.y);
  plan.repeats_edge = repeats_edge;
  return plan;
}

}  // namespace cudatensor
