// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/boxmap.h"

#include <algorithm>
#include <cmath>

namespace cudatensor {
namespace {

struct Span {
  double begin, end;
};

/// Returns the extent of a mapped box along the axis of a row of the matrix.
Span extent(const double *row, const Region &box) {
  const double x[] = {box.x, box.x + box.width}, y[] = {box.y, box.y + box.height};
  const auto at = [&](int i, int j) { return row[0] * x[i] + row[1] * y[j] + row[2]; };
  const auto [low, high] = std::minmax({at(0, 0), at(1, 0), at(0, 1), at(1, 1)});
  return {low, high};
}

Region region_of(const Box &box) {
  return {static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
          static_cast<double>(box.height)};
}

Span rounded(Span span, Rounding rounding) {
  if (rounding == Rounding::outwards) return {std::floor(span.begin), std::ceil(span.end)};
  const double first = std::floor(span.begin + 0.5);
  return {first, std::max(std::floor(span.end + 0.5), first + 1.0)};
}

int to_int(double value) {
  constexpr double kMost = 0x1p29;  // sums of two of them are ints, too
  return static_cast<int>(std::fmax(-kMost, std::fmin(value, kMost)));  // NaN, too
}

Box box_of(Span x, Span y) {
  const int left = to_int(x.begin), top = to_int(y.begin);
  return {left, top, to_int(x.end) - left, to_int(y.end) - top};
}

/// Returns the part of a span that is in a picture. A side that rounding has moved out of the
/// picture is moved to its edge.
Span clip_to(Span span, int size) {
  const double begin = std::clamp(span.begin, 0.0, size - 1.0);
  return {begin, std::clamp(span.end, begin + 1.0, static_cast<double>(size))};
}

bool overlaps(Span span, int size) { return span.end > 0.0 && span.begin < size; }

}  // namespace

BoxMap box_map_of(const Geometry &g) {
  const ImageDesc source = stored_size(g);
  return {matrix_of(g), source.width, source.height, g.dst_width, g.dst_height};
}

BoxMap scaling(int in_width, int in_height, int out_width, int out_height) {
  const double sx = static_cast<double>(out_width) / in_width;
  const double sy = static_cast<double>(out_height) / in_height;
  return {{sx, 0.0, 0.0, 0.0, sy, 0.0}, in_width, in_height, out_width, out_height};
}

BoxMap inverse_of(const BoxMap &m) {
  return {inverse_of(m.matrix), m.out_width, m.out_height, m.in_width, m.in_height};
}

BoxMap compose(const BoxMap &a, const BoxMap &b) {
  return {product(b.matrix, a.matrix), a.in_width, a.in_height, b.out_width, b.out_height};
}

bool is_upright(const BoxMap &map) {
  const Matrix &m = map.matrix;
  return m[0] > 0.0 && m[1] == 0.0 && m[3] == 0.0 && m[4] > 0.0;
}

Box map_box(const BoxMap &m, const Box &box, Rounding rounding) {
  const Region region = region_of(box);
  return box_of(rounded(extent(&m.matrix[0], region), rounding),
                rounded(extent(&m.matrix[3], region), rounding));
}

std::optional<Box> map_box_clipped(const BoxMap &m, const Box &box, Rounding rounding) {
  return map_region_clipped(m, region_of(box), rounding);
}

std::optional<Box> map_region_clipped(const BoxMap &m, const Region &region, Rounding rounding) {
  const Span x = extent(&m.matrix[0], region), y = extent(&m.matrix[3], region);
  if (!(region.width > 0.0) || !(region.height > 0.0) || !overlaps(x, m.out_width) ||
      !overlaps(y, m.out_height))
    return std::nullopt;
  return box_of(clip_to(rounded(x, rounding), m.out_width),
                clip_to(rounded(y, rounding), m.out_height));
}

TurnedBox map_box(const BoxMap &map, const TurnedBox &turned) {
  const Matrix &m = map.matrix;
  const Box &box = turned.box;
  const double c = std::cos(turned.radians), s = std::sin(turned.radians);
  // The mapped directions of the box's sides.
  const double across_x = m[0] * c + m[1] * s, across_y = m[3] * c + m[4] * s;
  const double down_x = m[1] * c - m[0] * s, down_y = m[4] * c - m[3] * s;
  const double width = box.width * std::hypot(across_x, across_y);
  const double height = box.height * std::hypot(down_x, down_y);
  const double center_x = box.x + box.width / 2.0, center_y = box.y + box.height / 2.0;
  const double x = m[0] * center_x + m[1] * center_y + m[2] - width / 2.0;
  const double y = m[3] * center_x + m[4] * center_y + m[5] - height / 2.0;
  const auto whole = [](double length) { return std::max(to_int(std::floor(length + 0.5)), 1); };
  return {{to_int(std::floor(x + 0.5)), to_int(std::floor(y + 0.5)), whole(width), whole(height)},
          static_cast<float>(std::atan2(across_y, across_x))};
}

}  // namespace cudatensor
