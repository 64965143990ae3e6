// SPDX-License-Identifier: LGPL-2.1-or-later
#include "geometry.h"

#include <algorithm>

namespace cudatensor {
namespace {

/// Rounds to the nearest integer, halves to even, whatever the thread's rounding mode.
int half_even(double x) {
  const double down = std::floor(x);
  const double rest = x - down;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(down, 2.0) != 0.0);
  return static_cast<int>(down) + (up ? 1 : 0);
}

struct Span {
  int begin, length;
};

/// The output pixels that `scale` · `src` continuous pixels from `offset` on touch.
Span covered(double scale, int src, double offset, int dst) {
  const int begin = std::max(0, static_cast<int>(std::floor(offset)));
  const int end = std::min(dst, static_cast<int>(std::ceil(offset + scale * src)));
  return {begin, end - begin};
}

void place_affine(Geometry &g, bool scale_up) {
  g.step = std::max(static_cast<double>(g.src_width) / g.dst_width,
                    static_cast<double>(g.src_height) / g.dst_height);
  if (!scale_up) g.step = std::max(g.step, 1.0);
  g.sx = g.sy = 1.0 / g.step;
  g.tx = (g.dst_width - g.sx * g.src_width) / 2.0;
  g.ty = (g.dst_height - g.sy * g.src_height) / 2.0;
  const Span x = covered(g.sx, g.src_width, g.tx, g.dst_width);
  const Span y = covered(g.sy, g.src_height, g.ty, g.dst_height);
  g.pad_left = x.begin;
  g.pad_top = y.begin;
  g.content_width = x.length;
  g.content_height = y.length;
}

void place_content(Geometry &g, int width, int height, int left, int top) {
  g.content_width = width;
  g.content_height = height;
  g.pad_left = left;
  g.pad_top = top;
  g.sx = static_cast<double>(width) / g.src_width;
  g.sy = static_cast<double>(height) / g.src_height;
  g.tx = left;
  g.ty = top;
}

void place_rounded(Geometry &g, bool scale_up) {
  double r = std::min(static_cast<double>(g.dst_height) / g.src_height,
                      static_cast<double>(g.dst_width) / g.src_width);
  if (!scale_up) r = std::min(r, 1.0);
  const int width = std::max(1, half_even(g.src_width * r));
  const int height = std::max(1, half_even(g.src_height * r));
  const bool centred = g.mode == ResizeMode::ultralytics;
  const int left = centred ? half_even((g.dst_width - width) / 2.0 - 0.1) : 0;
  const int top = centred ? half_even((g.dst_height - height) / 2.0 - 0.1) : 0;
  place_content(g, width, height, left, top);
}

}  // namespace

Geometry make_geometry(ResizeMode mode, int src_width, int src_height, int dst_width,
                       int dst_height, bool scale_up) {
  Geometry g = {};
  g.mode = mode;
  g.src_width = src_width;
  g.src_height = src_height;
  g.dst_width = dst_width;
  g.dst_height = dst_height;
  switch (mode) {
    case ResizeMode::stretch: place_content(g, dst_width, dst_height, 0, 0); break;
    case ResizeMode::affine: place_affine(g, scale_up); break;
    case ResizeMode::ultralytics:
    case ResizeMode::top_left: place_rounded(g, scale_up); break;
  }
  return g;
}

}  // namespace cudatensor
