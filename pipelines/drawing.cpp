// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drawing.h"

#include <algorithm>
#include <cmath>

#include "pipeline.h"

namespace {

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) throw Failure(cairo_status_to_string(status));
}

}  // namespace

Surface new_surface(double width, double height) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                             static_cast<int>(height)));
  check(cairo_surface_status(surface.get()));
  return surface;
}

double width_of(const Surface &surface) { return cairo_image_surface_get_width(surface.get()); }
double height_of(const Surface &surface) { return cairo_image_surface_get_height(surface.get()); }

guint32 pack(const Color &color) {
  const auto byte = [](double value) {
    return static_cast<guint32>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  };
  return byte(color.r) << 16 | byte(color.g) << 8 | byte(color.b);
}

Context begin_sheet(const Surface &sheet, double margin, const std::string &title,
                    const std::string &subtitle) {
  Context cairo(cairo_create(sheet.get()));
  set_color(cairo.get(), kBackground);
  cairo_paint(cairo.get());
  cairo_select_font_face(cairo.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         CAIRO_FONT_WEIGHT_NORMAL);
  draw_text(cairo.get(), margin, 44, 24, kText, title);
  draw_text(cairo.get(), margin, 70, 15, kFaint, subtitle);
  return cairo;
}

void set_color(cairo_t *cairo, const Color &color) {
  cairo_set_source_rgb(cairo, color.r, color.g, color.b);
}

void draw_text(cairo_t *cairo, double x, double y, double size, const Color &color,
               const std::string &text) {
  cairo_set_font_size(cairo, size);
  set_color(cairo, color);
  cairo_move_to(cairo, x, y);
  cairo_show_text(cairo, text.c_str());
}

Box draw_surface(cairo_t *cairo, const Surface &surface, const Box &box, cairo_filter_t filter) {
  const double scale = std::min(box.width / width_of(surface), box.height / height_of(surface));
  const Box placed = {box.x + (box.width - scale * width_of(surface)) / 2,
                      box.y + (box.height - scale * height_of(surface)) / 2,
                      scale * width_of(surface), scale * height_of(surface)};
  cairo_save(cairo);
  cairo_translate(cairo, placed.x, placed.y);
  cairo_scale(cairo, scale, scale);
  cairo_set_source_surface(cairo, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), filter);
  cairo_paint(cairo);
  cairo_restore(cairo);
  return placed;
}

void outline(cairo_t *cairo, const Box &box) {
  set_color(cairo, kContent);
  cairo_set_line_width(cairo, 2);
  cairo_rectangle(cairo, box.x + 1, box.y + 1, box.width - 2, box.height - 2);
  cairo_stroke(cairo);
}

void write_png(const Context &cairo, const Surface &sheet, const std::string &path) {
  check(cairo_status(cairo.get()));
  const cairo_status_t status = cairo_surface_write_to_png(sheet.get(), path.c_str());
  if (status != CAIRO_STATUS_SUCCESS)
    throw Failure("cannot write " + path + ": " + cairo_status_to_string(status));
}
