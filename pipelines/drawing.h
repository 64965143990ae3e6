// SPDX-License-Identifier: LGPL-2.1-or-later
// Drawing functions for the pictures that the applications write.
#pragma once

#include <cairo.h>
#include <glib.h>

#include <memory>
#include <string>

struct DestroySurface {
  void operator()(cairo_surface_t *surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, DestroySurface>;

struct DestroyContext {
  void operator()(cairo_t *cairo) const { cairo_destroy(cairo); }
};
using Context = std::unique_ptr<cairo_t, DestroyContext>;

struct Color {
  double r, g, b;
};
constexpr Color kBackground = {0.10, 0.11, 0.13}, kText = {0.93, 0.93, 0.91},
                kFaint = {0.62, 0.64, 0.67}, kContent = {1.0, 0.76, 0.03}, kWhite = {1, 1, 1},
                kBlack = {0, 0, 0};

struct Box {
  double x, y, width, height;
};

Surface new_surface(double width, double height);
double width_of(const Surface &surface);
double height_of(const Surface &surface);

/// Returns a pixel in the format of a cairo surface.
guint32 pack(const Color &color);

/// Returns a surface whose pixel i, counted row by row, is `color(i)`.
template <class ColorAt>
Surface painted(int width, int height, ColorAt color) {
  Surface surface = new_surface(width, height);
  const int stride = cairo_image_surface_get_stride(surface.get());
  guint8 *data = cairo_image_surface_get_data(surface.get());
  for (int y = 0; y < height; ++y) {
    auto *row = reinterpret_cast<guint32 *>(data + static_cast<ptrdiff_t>(y) * stride);
    for (int x = 0; x < width; ++x) row[x] = pack(color(static_cast<size_t>(y) * width + x));
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

/// Draws the background, title and subtitle of a sheet.
Context begin_sheet(const Surface &sheet, double margin, const std::string &title,
                    const std::string &subtitle);

void set_color(cairo_t *cairo, const Color &color);
void draw_text(cairo_t *cairo, double x, double y, double size, const Color &color,
               const std::string &text);

/// Draws a surface as large as possible within `box`, and returns its rectangle.
Box draw_surface(cairo_t *cairo, const Surface &surface, const Box &box,
                 cairo_filter_t filter = CAIRO_FILTER_GOOD);

/// Draws an outline along the inside of `box`, in the color for content.
void outline(cairo_t *cairo, const Box &box);

/// Writes the sheet to a PNG file.
void write_png(const Context &cairo, const Surface &sheet, const std::string &path);
