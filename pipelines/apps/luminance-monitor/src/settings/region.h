// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of a camera's picture that is judged: a rectangle minus masks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace luminance {

/// A rectangle, in shares of the picture's width and height.
struct Area {
  double x = 0, y = 0, width = 1, height = 1;
};
bool operator==(const Area &a, const Area &b);

/// The judged part of a picture as configured.
struct Region {
  std::optional<Area> area;  // nothing: all of the picture
  std::vector<Area> masks;   // may overlap each other and the area's edges

  bool is_whole() const { return !area && masks.empty(); }
};
bool operator==(const Region &a, const Region &b);
/// Returns the same text for equal regions; empty for the whole picture.
std::string text_of(const Region &region);

/// A rectangle by its edges: in shares of a picture, or in pixels of one.
template <class Number>
struct Box {
  Number left = 0, top = 0, right = 0, bottom = 0;

  bool is_empty() const { return left >= right || top >= bottom; }
  bool operator==(const Box &other) const {
    return left == other.left && top == other.top && right == other.right && bottom == other.bottom;
  }
};

/// The judged part of a picture: a rectangle minus holes. The holes lie in the rectangle and do not
/// overlap each other.
template <class Number>
struct Cutout {
  Box<Number> frame;  // empty: nothing is judged
  std::vector<Box<Number>> holes;
};

/// Returns the cutout of a region. Its frame is the smallest that contains the judged part.
Cutout<double> cutout_of(const Region &region);

/// Returns the pixels of a cutout in a picture of this size. A pixel is in the rectangle that its
/// centre is in, so rectangles that do not overlap share no pixel. All holes are kept, even if they
/// are empty.
Cutout<size_t> pixels_of(const Cutout<double> &cutout, size_t width, size_t height);
/// Returns the number of judged pixels.
size_t count_of(const Cutout<size_t> &pixels);

struct Size {
  size_t width, height;
};
/// Returns the samples of a cutout if `from` pixels are reduced to `to` samples: in each direction,
/// sample i is pixel i · from / to, rounded down.
Cutout<size_t> samples_of(const Cutout<size_t> &pixels, const Size &from, const Size &to);

}  // namespace luminance
