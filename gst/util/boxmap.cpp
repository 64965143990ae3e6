// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/boxmap.h"

#include <algorithm>
#include <cmath>

namespace cudatensor {
namespace {

struct Span {
  double begin, end;
};

Span map_span(int begin, int length, double s, double t, Rounding rounding) {
  const double low = s * begin + t, high = s * (static_cast<double>(begin) + length) + t;
  if (rounding == Rounding::outwards) return {std::floor(low), std::ceil(high)};
  const double first = std::floor(low + 0.5);
  return {first, std::max(std::floor(high + 0.5), first + 1.0)};
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

bool overlaps(int begin, int length, double s, double t, int size) {
  return length > 0 && s * (static_cast<double>(begin) + length) + t > 0.0 && s * begin + t < size;
}

}  // namespace

BoxMap box_map_of(const Geometry &g) {
  return {g.sx, g.sy, g.tx, g.ty, g.src_width, g.src_height, g.dst_width, g.dst_height};
}

BoxMap scaling(int in_width, int in_height, int out_width, int out_height) {
  return {static_cast<double>(out_width) / in_width,
          static_cast<double>(out_height) / in_height,
          0.0,
          0.0,
          in_width,
          in_height,
          out_width,
          out_height};
}

BoxMap inverse_of(const BoxMap &m) {
  return {1.0 / m.sx,  1.0 / m.sy,   -m.tx / m.sx, -m.ty / m.sy,
          m.out_width, m.out_height, m.in_width,   m.in_height};
}

BoxMap compose(const BoxMap &a, const BoxMap &b) {
  return {a.sx * b.sx, a.sy * b.sy, b.sx * a.tx + b.tx, b.sy * a.ty + b.ty,
          a.in_width,  a.in_height, b.out_width,        b.out_height};
}

Box map_box(const BoxMap &m, const Box &box, Rounding rounding) {
  return box_of(map_span(box.x, box.width, m.sx, m.tx, rounding),
                map_span(box.y, box.height, m.sy, m.ty, rounding));
}

std::optional<Box> map_box_clipped(const BoxMap &m, const Box &box, Rounding rounding) {
  if (!overlaps(box.x, box.width, m.sx, m.tx, m.out_width) ||
      !overlaps(box.y, box.height, m.sy, m.ty, m.out_height))
    return std::nullopt;
  return box_of(clip_to(map_span(box.x, box.width, m.sx, m.tx, rounding), m.out_width),
                clip_to(map_span(box.y, box.height, m.sy, m.ty, rounding), m.out_height));
}

TurnedBox map_box(const BoxMap &m, const TurnedBox &turned) {
  const Box &box = turned.box;
  const double c = std::cos(turned.radians), s = std::sin(turned.radians);
  const double width = box.width * std::hypot(m.sx * c, m.sy * s);
  const double height = box.height * std::hypot(m.sx * s, m.sy * c);
  const double x = m.sx * (box.x + box.width / 2.0) + m.tx - width / 2.0;
  const double y = m.sy * (box.y + box.height / 2.0) + m.ty - height / 2.0;
  const auto whole = [](double length) { return std::max(to_int(std::floor(length + 0.5)), 1); };
  return {{to_int(std::floor(x + 0.5)), to_int(std::floor(y + 0.5)), whole(width), whole(height)},
          static_cast<float>(std::atan2(m.sy * s, m.sx * c))};
}

}  // namespace cudatensor
