// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Rounds to nearest, ties to even, independent of the thread's rounding mode.
int half_even(double x) {
  const double down = std::floor(x);
  const double rest = x - down;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(down, 2.0) != 0.0);
  return static_cast<int>(down) + (up ? 1 : 0);
}

struct Span {
  int begin, length;
};

/// Returns the output pixels touched by an interval that starts at `offset` and is `scale` · `src`
/// pixels long.
Span covered(double scale, double src, double offset, int dst) {
  const int begin = std::max(0, static_cast<int>(std::floor(offset)));
  const int end = std::min(dst, static_cast<int>(std::ceil(offset + scale * src)));
  return {begin, end - begin};
}

void place_affine(Geometry &g, bool scale_up) {
  g.step = std::max(g.region.width / g.dst_width, g.region.height / g.dst_height);
  if (!scale_up) g.step = std::max(g.step, 1.0);
  g.sx = g.sy = 1.0 / g.step;
  const double left = (g.dst_width - g.sx * g.region.width) / 2.0;
  const double top = (g.dst_height - g.sy * g.region.height) / 2.0;
  g.tx = left - g.sx * g.region.x;
  g.ty = top - g.sy * g.region.y;
  const Span x = covered(g.sx, g.region.width, left, g.dst_width);
  const Span y = covered(g.sy, g.region.height, top, g.dst_height);
  g.pad_left = x.begin;
  g.pad_top = y.begin;
  g.content_width = x.length;
  g.content_height = y.length;
}

/// Returns the part of the resized interval that is in the output.
Span visible(int offset, int length, int dst) {
  const int begin = std::max(0, offset);
  return {begin, std::min(dst, offset + length) - begin};
}

void place_content(Geometry &g, int width, int height, int left, int top) {
  const Span x = visible(left, width, g.dst_width), y = visible(top, height, g.dst_height);
  g.content_width = x.length;
  g.content_height = y.length;
  g.pad_left = x.begin;
  g.pad_top = y.begin;
  g.resized_width = width;
  g.resized_height = height;
  g.offset_x = left;
  g.offset_y = top;
  g.sx = width / g.region.width;
  g.sy = height / g.region.height;
  g.tx = left - g.sx * g.region.x;
  g.ty = top - g.sy * g.region.y;
}

void place_rounded(Geometry &g, bool scale_up) {
  double r = std::min(g.dst_height / g.region.height, g.dst_width / g.region.width);
  if (!scale_up) r = std::min(r, 1.0);
  const int width = std::max(1, half_even(g.region.width * r));
  const int height = std::max(1, half_even(g.region.height * r));
  const bool centered = g.mode == ResizeMode::ultralytics;
  const int left = centered ? half_even((g.dst_width - width) / 2.0 - 0.1) : 0;
  const int top = centered ? half_even((g.dst_height - height) / 2.0 - 0.1) : 0;
  place_content(g, width, height, left, top);
}

/// Returns the first sample of a centered crop on a resized axis.
int crop_begin(ResizeMode mode, int resized, int dst) {
  if (mode == ResizeMode::torchvision) return half_even((resized - dst) / 2.0);
  return (resized - dst) / 2;
}

/// Maximum side of a resized picture before a crop. It exceeds kMaxImageSize, because only the crop
/// is computed and regions of detectors may be thin.
constexpr int kMaxCropped = 1 << 30;

void place_crop(Geometry &g, int shortest_edge) {
  const int shorter = shortest_edge > 0 ? shortest_edge : std::max(g.dst_width, g.dst_height);
  const bool wide = g.region.width >= g.region.height;
  const double ratio = wide ? shorter * g.region.width / g.region.height
                            : shorter * g.region.height / g.region.width;
  if (ratio > kMaxCropped)
    throw Error(Error::Code::settings, "a picture whose shorter edge is resized to " +
                                           std::to_string(shorter) + " pixels is longer than " +
                                           std::to_string(kMaxCropped) + " pixels");
  const auto longer = static_cast<int>(ratio);
  const int width = wide ? longer : shorter, height = wide ? shorter : longer;
  if (width < g.dst_width || height < g.dst_height)
    throw Error(Error::Code::settings,
                "a resized picture of " + std::to_string(width) + "x" + std::to_string(height) +
                    " pixels is smaller than the output of " + std::to_string(g.dst_width) + "x" +
                    std::to_string(g.dst_height) + "; with resize-mode=" +
                    (g.mode == ResizeMode::torchvision ? "torchvision" : "transformers") +
                    " shortest-edge must be larger");
  place_content(g, width, height, -crop_begin(g.mode, width, g.dst_width),
                -crop_begin(g.mode, height, g.dst_height));
}

/// Clips an interval to [0, limit). Returns no value if less than kMinSide is left.
std::optional<Extent> clip_axis(double begin, double length, int limit) {
  if (!(length >= kMinSide)) return std::nullopt;
  // Returned unchanged, because adding and subtracting would round the length.
  if (begin >= 0.0 && begin + length <= limit) return Extent{begin, length};
  const double from = std::max(begin, 0.0);
  const double rest = std::min(begin + length, static_cast<double>(limit)) - from;
  return rest >= kMinSide ? std::optional<Extent>({from, rest}) : std::nullopt;
}

/// Mirrors an interval of an axis. Both ends are rounded once; if the length would move the second
/// one, perhaps past the edge of the picture, the length is changed.
Extent mirrored(Extent part, int length) {
  const double begin = length - (part.begin + part.length), end = length - part.begin;
  return {begin, begin + part.length > end ? end - begin : part.length};
}

/// An axis of the seen picture as an affine function of its axis of the stored picture, or back.
struct AxisMap {
  double factor, offset;
};

/// out = s · in + t, where `in` is mirrored on an axis of `length`.
AxisMap forward(double s, double t, bool mirrored, int length) {
  return mirrored ? AxisMap{-s, s * length + t} : AxisMap{s, t};
}

/// 0 - x instead of -x avoids negative zeros.
AxisMap backward(double s, double t, bool mirrored, int length) {
  return mirrored ? AxisMap{-1.0 / s, length + t / s} : AxisMap{1.0 / s, 0.0 - t / s};
}

}  // namespace

bool is_region(const Region &r) {
  constexpr double kMaxCoordinate = 1 << 30;
  const auto fits = [](double value) { return std::abs(value) <= kMaxCoordinate; };
  return fits(r.x) && fits(r.y) && fits(r.width) && fits(r.height) && r.width >= kMinSide &&
         r.height >= kMinSide;
}

void check_region(const Region &r) {
  if (is_region(r)) return;
  char text[128];
  std::snprintf(text, sizeof text, "a region of %gx%g pixels at %g,%g", r.width, r.height, r.x,
                r.y);
  throw Error(Error::Code::settings, text);
}

std::optional<Region> clip(const Region &r, int width, int height) {
  const auto x = clip_axis(r.x, r.width, width), y = clip_axis(r.y, r.height, height);
  if (!x || !y) return std::nullopt;
  return Region{x->begin, y->begin, x->length, y->length};
}

Region seen(const Region &region, const ImageDesc &stored, Direction direction) {
  const Orientation o = orientation_of(direction);
  const ImageDesc picture = seen(stored, direction);
  Extent x = {region.x, region.width}, y = {region.y, region.height};
  if (o.transposed) std::swap(x, y);
  if (o.mirrored_x) x = mirrored(x, picture.width);
  if (o.mirrored_y) y = mirrored(y, picture.height);
  return {x.begin, y.begin, x.length, y.length};
}

Matrix seen_from_stored(const ImageDesc &stored, Direction direction) {
  const ImageDesc picture = seen(stored, direction);
  Geometry whole = make_geometry({}, picture.width, picture.height, picture.width, picture.height);
  whole.direction = direction;
  return matrix_of(whole);
}

Matrix matrix_of(const Geometry &g) {
  if (g.slot.is_set) return g.slot.matrix;
  const Orientation o = orientation_of(g.direction);
  const AxisMap x = forward(g.sx, g.tx, o.mirrored_x, g.src_width);
  const AxisMap y = forward(g.sy, g.ty, o.mirrored_y, g.src_height);
  if (o.transposed) return {0.0, x.factor, x.offset, y.factor, 0.0, y.offset};
  return {x.factor, 0.0, x.offset, 0.0, y.factor, y.offset};
}

Matrix inverse_of(const Geometry &g) {
  if (g.slot.is_set) return g.slot.inverse;
  const Orientation o = orientation_of(g.direction);
  const AxisMap x = backward(g.sx, g.tx, o.mirrored_x, g.src_width);
  const AxisMap y = backward(g.sy, g.ty, o.mirrored_y, g.src_height);
  if (o.transposed) return {0.0, y.factor, y.offset, x.factor, 0.0, x.offset};
  return {x.factor, 0.0, x.offset, 0.0, y.factor, y.offset};
}

ImageDesc stored_size(const Geometry &g) {
  // A direction and its inverse transpose alike.
  return seen(ImageDesc{{}, g.src_width, g.src_height}, g.direction);
}

Geometry make_geometry(const Fit &fit, int src_width, int src_height, int dst_width,
                       int dst_height) {
  const Region all = {0.0, 0.0, static_cast<double>(src_width), static_cast<double>(src_height)};
  return make_geometry(fit, src_width, src_height, all, dst_width, dst_height);
}

Geometry make_geometry(const Fit &fit, int src_width, int src_height, const Region &region,
                       int dst_width, int dst_height) {
  Geometry g = {};
  g.mode = fit.mode;
  g.src_width = src_width;
  g.src_height = src_height;
  g.region = region;
  g.dst_width = dst_width;
  g.dst_height = dst_height;
  switch (fit.mode) {
    case ResizeMode::stretch: place_content(g, dst_width, dst_height, 0, 0); break;
    case ResizeMode::affine: place_affine(g, fit.scale_up); break;
    case ResizeMode::ultralytics:
    case ResizeMode::top_left: place_rounded(g, fit.scale_up); break;
    case ResizeMode::torchvision:
    case ResizeMode::transformers: place_crop(g, fit.shortest_edge); break;
  }
  return g;
}

}  // namespace cudatensor
