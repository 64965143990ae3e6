// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/region.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

namespace luminance {
namespace {

using Edges1D = std::vector<double>;

/// Rounds to a billionth, so that edges that are meant to be equal are, such as 0.1 + 0.2 and 0.3.
double edge(double share) { return std::clamp(std::round(share * 1e9) / 1e9, 0., 1.); }

Box<double> box_of(const Area &area) {
  return {edge(area.x), edge(area.y), edge(area.x + area.width), edge(area.y + area.height)};
}

Box<double> both(const Box<double> &a, const Box<double> &b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

/// A rectangle, divided along the edges of all masks. Each part lies in a mask or overlaps none.
class Grid {
 public:
  Grid(const Box<double> &frame, const std::vector<Box<double>> &masks) : masks_(masks) {
    add(frame);
    for (const Box<double> &mask : masks_) add(mask);
    for (Edges1D *edges : {&xs_, &ys_}) {
      std::sort(edges->begin(), edges->end());
      edges->erase(std::unique(edges->begin(), edges->end()), edges->end());
    }
  }

  size_t columns() const { return xs_.size() - 1; }
  size_t rows() const { return ys_.size() - 1; }
  /// Returns the box of the parts from `left`, `top` to before `right`, `bottom`.
  Box<double> box(size_t left, size_t top, size_t right, size_t bottom) const {
    return {xs_[left], ys_[top], xs_[right], ys_[bottom]};
  }
  bool is_masked(size_t column, size_t row) const {
    const Box<double> part = box(column, row, column + 1, row + 1);
    return std::any_of(masks_.begin(), masks_.end(),
                       [&](const Box<double> &mask) { return !both(part, mask).is_empty(); });
  }

 private:
  void add(const Box<double> &box) {
    xs_.insert(xs_.end(), {box.left, box.right});
    ys_.insert(ys_.end(), {box.top, box.bottom});
  }

  const std::vector<Box<double>> &masks_;
  Edges1D xs_, ys_;
};

Box<double> frame_of(const Grid &grid) {
  size_t left = grid.columns(), top = grid.rows(), right = 0, bottom = 0;
  for (size_t row = 0; row < grid.rows(); ++row)
    for (size_t column = 0; column < grid.columns(); ++column) {
      if (grid.is_masked(column, row)) continue;
      left = std::min(left, column);
      top = std::min(top, row);
      right = std::max(right, column + 1);
      bottom = std::max(bottom, row + 1);
    }
  return right == 0 ? Box<double>() : grid.box(left, top, right, bottom);
}

/// Extends the hole directly above the run, if it is as wide; otherwise, adds the run as a hole.
void add_run(const Box<double> &run, std::vector<Box<double>> &holes) {
  for (Box<double> &hole : holes) {
    if (std::tie(hole.left, hole.right, hole.bottom) != std::tie(run.left, run.right, run.top))
      continue;
    hole.bottom = run.bottom;
    return;
  }
  holes.push_back(run);
}

std::vector<Box<double>> holes_of(const Grid &grid) {
  std::vector<Box<double>> holes;
  for (size_t row = 0; row < grid.rows(); ++row)
    for (size_t begin = 0, end; begin < grid.columns(); begin = end + 1) {
      end = begin;
      while (end < grid.columns() && grid.is_masked(end, row)) ++end;
      if (end > begin) add_run(grid.box(begin, row, end, row + 1), holes);
    }
  return holes;
}

std::vector<Box<double>> within(const Box<double> &frame, const std::vector<Box<double>> &masks) {
  std::vector<Box<double>> inside;
  for (const Box<double> &mask : masks)
    if (const Box<double> part = both(frame, mask); !part.is_empty()) inside.push_back(part);
  return inside;
}

/// Returns the first of `count` pixels whose centre is not before the edge `share`.
size_t first_pixel(double share, size_t count) {
  return static_cast<size_t>(std::max(0., std::ceil(share * static_cast<double>(count) - 0.5)));
}

size_t first_sample(size_t pixel, size_t from, size_t to) { return (pixel * to + from - 1) / from; }

/// Returns the cutout with the edges of all rectangles mapped by `x` and `y`.
template <class To, class From, class X, class Y>
Cutout<To> mapped(const Cutout<From> &cutout, const X &x, const Y &y) {
  const auto map = [&](const Box<From> &box) {
    return Box<To>{x(box.left), y(box.top), x(box.right), y(box.bottom)};
  };
  Cutout<To> result = {map(cutout.frame), {}};
  for (const Box<From> &hole : cutout.holes) result.holes.push_back(map(hole));
  return result;
}

size_t size_of(const Box<size_t> &box) {
  return box.is_empty() ? 0 : (box.right - box.left) * (box.bottom - box.top);
}

std::string text_of(const Area &area) {
  char text[100];
  std::snprintf(text, sizeof text, "%.9g,%.9g,%.9g,%.9g", area.x, area.y, area.width, area.height);
  return text;
}

}  // namespace

bool operator==(const Area &a, const Area &b) {
  return std::tie(a.x, a.y, a.width, a.height) == std::tie(b.x, b.y, b.width, b.height);
}

bool operator==(const Region &a, const Region &b) { return a.area == b.area && a.masks == b.masks; }

std::string text_of(const Region &region) {
  if (region.is_whole()) return "";
  std::string text = text_of(region.area.value_or(Area()));
  for (const Area &mask : region.masks) text += "-" + text_of(mask);
  return text;
}

Cutout<double> cutout_of(const Region &region) {
  const Box<double> area = box_of(region.area.value_or(Area()));
  std::vector<Box<double>> all;
  for (const Area &mask : region.masks) all.push_back(box_of(mask));
  const std::vector<Box<double>> masks = within(area, all);
  const Box<double> frame = frame_of(Grid(area, masks));
  if (frame.is_empty()) return {};
  const std::vector<Box<double>> inside = within(frame, masks);
  return {frame, holes_of(Grid(frame, inside))};
}

Cutout<size_t> pixels_of(const Cutout<double> &cutout, size_t width, size_t height) {
  return mapped<size_t>(
      cutout, [=](double share) { return first_pixel(share, width); },
      [=](double share) { return first_pixel(share, height); });
}

size_t count_of(const Cutout<size_t> &pixels) {
  size_t count = size_of(pixels.frame);
  for (const Box<size_t> &hole : pixels.holes) count -= size_of(hole);
  return count;
}

Cutout<size_t> samples_of(const Cutout<size_t> &pixels, const Size &from, const Size &to) {
  if (pixels.frame.is_empty()) return {};
  return mapped<size_t>(
      pixels, [&](size_t pixel) { return first_sample(pixel, from.width, to.width); },
      [&](size_t pixel) { return first_sample(pixel, from.height, to.height); });
}

}  // namespace luminance
