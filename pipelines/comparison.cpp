// SPDX-License-Identifier: LGPL-2.1-or-later
#include "comparison.h"

#include <algorithm>
#include <cstdlib>

#include "drawing.h"

namespace {

constexpr int kFactor = 2;
// Sizes in pixels of the sheet.
constexpr double kMargin = 28, kGap = 16, kHeader = 92, kCaption = 30;
/// Larger pictures are scaled down.
constexpr double kWidest = 768;
/// The side of the detail in pixels of the result, which must be even, and its magnification.
constexpr int kDetailWidth = 192, kDetailHeight = 144, kZoom = 4;

struct Part {
  int x, y, width, height;
};

Surface surface_of(const Picture &picture, const Part &part) {
  return painted(part.width, part.height, [&](size_t i) {
    const guint8 *rgb = picture.at(part.y + static_cast<int>(i) / part.width,
                                   part.x + static_cast<int>(i) % part.width);
    return Color{rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0};
  });
}

Surface surface_of(const Picture &picture) {
  return surface_of(picture, {0, 0, picture.width, picture.height});
}

guint64 difference(const Picture &a, const Picture &b, const Part &part) {
  guint64 sum = 0;
  for (int y = part.y; y < part.y + part.height; ++y) {
    const guint8 *left = a.at(y, part.x), *right = b.at(y, part.x);
    for (int i = 0; i < part.width * Picture::kComponents; ++i) sum += std::abs(left[i] - right[i]);
  }
  return sum;
}

/// Returns the part in which the two pictures differ most.
Part detail_of(const Picture &a, const Picture &b) {
  Part part = {0, 0, std::min(kDetailWidth, a.width), std::min(kDetailHeight, a.height)};
  Part best = part;
  guint64 most = 0;
  const int step_x = std::max(kFactor, part.width / 8 * kFactor),
            step_y = std::max(kFactor, part.height / 8 * kFactor);
  for (part.y = 0; part.y + part.height <= a.height; part.y += step_y)
    for (part.x = 0; part.x + part.width <= a.width; part.x += step_x) {
      const guint64 sum = difference(a, b, part);
      if (sum <= most) continue;
      most = sum;
      best = part;
    }
  return best;
}

std::string size_text(const Picture &picture) {
  return std::to_string(picture.width) + "×" + std::to_string(picture.height);
}

struct Column {
  const Picture &picture;
  std::string caption;
  int pixels;  // number of pixels of the result per pixel, in each direction
};

void draw_column(cairo_t *cairo, const Column &column, const Part &detail, const Box &whole,
                 double y) {
  const Box placed = draw_surface(cairo, surface_of(column.picture), whole, CAIRO_FILTER_BEST);
  draw_text(cairo, whole.x, whole.y + whole.height + 20, 14, kFaint, column.caption);
  const int n = column.pixels;
  const Part part = {detail.x / n, detail.y / n, detail.width / n, detail.height / n};
  const double scale = placed.width / column.picture.width;
  outline(cairo, {placed.x + scale * part.x, placed.y + scale * part.y, scale * part.width,
                  scale * part.height});
  const double zoom = static_cast<double>(kZoom);
  draw_surface(cairo, surface_of(column.picture, part),
               {whole.x, y, zoom * part.width, zoom * part.height}, CAIRO_FILTER_NEAREST);
}

}  // namespace

Picture halved(const Picture &picture) {
  Picture half = {picture.width / kFactor, picture.height / kFactor, {}};
  for (int y = 0; y < half.height; ++y)
    for (int x = 0; x < half.width; ++x)
      for (int c = 0; c < Picture::kComponents; ++c) {
        const guint8 *above = picture.at(kFactor * y, kFactor * x),
                     *below = picture.at(kFactor * y + 1, kFactor * x);
        const int right = Picture::kComponents + c;
        const int sum = above[c] + above[right] + below[c] + below[right];
        half.rgb.push_back(static_cast<guint8>((sum + 2) / 4));
      }
  return half;
}

Picture doubled(const Picture &picture) {
  Picture twice = {kFactor * picture.width, kFactor * picture.height, {}};
  for (int y = 0; y < twice.height; ++y)
    for (int x = 0; x < twice.width; ++x) {
      const guint8 *rgb = picture.at(y / kFactor, x / kFactor);
      twice.rgb.insert(twice.rgb.end(), rgb, rgb + Picture::kComponents);
    }
  return twice;
}

void write_comparison(const std::string &path, const std::string &title, const Picture &input,
                      const Picture &result) {
  const Picture nearest = doubled(input);
  const Part detail = detail_of(nearest, result);
  const std::string zoom = ", with a detail at " + std::to_string(kZoom) + "×";
  const Column columns[] = {
      {input, "input: " + size_text(input), kFactor},
      {nearest, "nearest neighbor: each pixel of the input repeated, " + size_text(nearest) + zoom,
       1},
      {result, "result: output of cudapixelshuffle, " + size_text(result) + zoom, 1}};
  const double scale = std::min(1.0, kWidest / result.width);
  const double shown_height = scale * result.height,
               below = kHeader + shown_height + kCaption + kGap;
  double width = 2 * kMargin - kGap;
  for (const Column &column : columns)
    width += std::max(scale * result.width, 1.0 * kZoom * detail.width) / column.pixels + kGap;
  const Surface sheet = new_surface(width, below + kZoom * detail.height + kMargin);
  const Context cairo =
      begin_sheet(sheet, kMargin, title,
                  "12 channels of half the size, as a perfect network would compute them, combined "
                  "into one picture");
  double x = kMargin;
  for (const Column &column : columns) {
    const Box whole = {x, kHeader, scale * result.width / column.pixels,
                       shown_height / column.pixels};
    draw_column(cairo.get(), column, detail, whole, below);
    x += std::max(whole.width, 1.0 * kZoom * detail.width / column.pixels) + kGap;
  }
  write_png(cairo, sheet, path);
}
