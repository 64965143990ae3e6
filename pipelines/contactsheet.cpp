// SPDX-License-Identifier: LGPL-2.1-or-later
#include "contactsheet.h"

#include <algorithm>
#include <cmath>

#include "pipeline.h"

namespace {

// In pixels of the sheet.
constexpr double kMargin = 28, kGap = 16, kTile = 480, kCaption = 30, kHeader = 92;
constexpr int kChannels = 3;
constexpr double kChannelTile = (kTile - (kChannels - 1) * kGap) / kChannels;
/// Wider and narrower frames are shown smaller.
constexpr double kWidest = 16.0 / 9, kNarrowest = 3.0 / 4;

struct Color {
  double r, g, b;
};
constexpr Color kBackground = {0.10, 0.11, 0.13}, kText = {0.93, 0.93, 0.91},
                kFaint = {0.62, 0.64, 0.67}, kContent = {1.0, 0.76, 0.03}, kWhite = {1, 1, 1},
                kBlack = {0, 0, 0};

struct Box {
  double x, y, width, height;
};

struct DestroyContext {
  void operator()(cairo_t *cairo) const { cairo_destroy(cairo); }
};
struct DestroyPattern {
  void operator()(cairo_pattern_t *pattern) const { cairo_pattern_destroy(pattern); }
};
using Context = std::unique_ptr<cairo_t, DestroyContext>;

struct FreeConverter {
  void operator()(GstVideoConverter *converter) const { gst_video_converter_free(converter); }
};

class Frame {
 public:
  Frame(const GstVideoInfo &info, GstBuffer *buffer, GstMapFlags flags) {
    if (!gst_video_frame_map(&frame_, &info, buffer, flags))
      throw Failure("cannot map a video frame");
  }
  ~Frame() { gst_video_frame_unmap(&frame_); }
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;
  GstVideoFrame *get() { return &frame_; }

 private:
  GstVideoFrame frame_;
};

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) throw Failure(cairo_status_to_string(status));
}

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

/// A surface whose pixel i, counted row by row, is `color(i)`.
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

/// Draws a surface as large as it fits into `box`, and returns where it lies.
Box draw_surface(cairo_t *cairo, const Surface &surface, const Box &box) {
  const double scale = std::min(box.width / width_of(surface), box.height / height_of(surface));
  const Box placed = {box.x + (box.width - scale * width_of(surface)) / 2,
                      box.y + (box.height - scale * height_of(surface)) / 2,
                      scale * width_of(surface), scale * height_of(surface)};
  cairo_save(cairo);
  cairo_translate(cairo, placed.x, placed.y);
  cairo_scale(cairo, scale, scale);
  cairo_set_source_surface(cairo, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_GOOD);
  cairo_paint(cairo);
  cairo_restore(cairo);
  return placed;
}

/// A rectangle of the content's colour.
void outline(cairo_t *cairo, const Box &box) {
  set_color(cairo, kContent);
  cairo_set_line_width(cairo, 2);
  cairo_rectangle(cairo, box.x + 1, box.y + 1, box.width - 2, box.height - 2);
  cairo_stroke(cairo);
}

/// What the channels' greys mean.
void draw_legend(cairo_t *cairo, double x, double y) {
  const std::unique_ptr<cairo_pattern_t, DestroyPattern> colors(
      cairo_pattern_create_linear(x, 0, x + kChannelTile, 0));
  cairo_pattern_add_color_stop_rgb(colors.get(), 0, kBlack.r, kBlack.g, kBlack.b);
  cairo_pattern_add_color_stop_rgb(colors.get(), 1, kWhite.r, kWhite.g, kWhite.b);
  cairo_set_source(cairo, colors.get());
  cairo_rectangle(cairo, x, y + 7, kChannelTile, 5);
  cairo_fill(cairo);
  draw_text(cairo, x, y + 26, 12, kFaint, "0");
  draw_text(cairo, x + kChannelTile - 8, y + 26, 12, kFaint, "1");
}

double source_width(const SheetRow &row) {
  const double aspect = width_of(row.source) / height_of(row.source);
  return std::round(kTile * std::clamp(aspect, kNarrowest, kWidest));
}

void draw_row(cairo_t *cairo, const SheetRow &row, double y, double width) {
  const double text = y + kTile + 20;
  double x = kMargin;
  outline(cairo, draw_surface(cairo, row.source, {x, y, width, kTile}));
  draw_text(cairo, x, text, 14, kFaint, row.source_caption);

  x += width + kGap;
  const Box tensor = draw_surface(cairo, row.tensor, {x, y, kTile, kTile});
  const double scale = tensor.width / width_of(row.tensor);
  outline(cairo, {tensor.x + scale * row.geometry.left, tensor.y + scale * row.geometry.top,
                  scale * row.geometry.width, scale * row.geometry.height});
  draw_text(cairo, x, text, 14, kFaint, row.tensor_caption);

  x += kTile + kGap;
  draw_legend(cairo, x, y + kTile);
  for (size_t c = 0; c < row.channels.size(); ++c, y += kChannelTile + kGap) {
    const Box box = draw_surface(cairo, row.channels[c], {x, y, kChannelTile, kChannelTile});
    set_color(cairo, kWhite);
    cairo_rectangle(cairo, box.x, box.y, 92, 20);
    cairo_fill(cairo);
    draw_text(cairo, box.x + 6, box.y + 15, 12, kBackground, row.channel_captions[c]);
  }
}

}  // namespace

Surface surface_of(GstBuffer *buffer, const GstVideoInfo &info) {
  Surface surface = new_surface(GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info));
  GstVideoInfo surface_info;
  gst_video_info_set_format(&surface_info, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_INFO_WIDTH(&info),
                            GST_VIDEO_INFO_HEIGHT(&info));
  // The converter wants these equal.
  surface_info.interlace_mode = info.interlace_mode;
  surface_info.fps_n = info.fps_n;
  surface_info.fps_d = info.fps_d;
  const Ref<GstBuffer> wrapped(
      gst_buffer_new_wrapped_full(GstMemoryFlags(0), cairo_image_surface_get_data(surface.get()),
                                  surface_info.size, 0, surface_info.size, nullptr, nullptr));
  const std::unique_ptr<GstVideoConverter, FreeConverter> converter(
      gst_video_converter_new(&info, &surface_info, nullptr));
  if (converter == nullptr) throw Failure("cannot convert a video frame to RGB");
  Frame in(info, buffer, GST_MAP_READ), out(surface_info, wrapped.get(), GST_MAP_WRITE);
  gst_video_converter_frame(converter.get(), in.get(), out.get());
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

Surface surface_of(const Tensor &tensor) {
  return painted(tensor.width, tensor.height, [&](size_t i) {
    return Color{tensor.channel(0)[i], tensor.channel(1)[i], tensor.channel(2)[i]};
  });
}

Surface surface_of_channel(const Tensor &tensor, int c) {
  const float *values = tensor.channel(c);
  return painted(tensor.width, tensor.height, [&](size_t i) {
    return Color{values[i], values[i], values[i]};
  });
}

void write_contact_sheet(const std::string &path, const std::string &title,
                         const std::string &subtitle, const std::vector<SheetRow> &rows) {
  double width = 0;
  for (const SheetRow &row : rows) width = std::max(width, source_width(row));
  const Surface sheet =
      new_surface(2 * kMargin + width + kGap + kTile + kGap + kChannelTile,
                  kHeader + rows.size() * (kTile + kCaption + kGap) + kMargin - kGap);
  const Context cairo(cairo_create(sheet.get()));
  set_color(cairo.get(), kBackground);
  cairo_paint(cairo.get());
  cairo_select_font_face(cairo.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         CAIRO_FONT_WEIGHT_NORMAL);
  draw_text(cairo.get(), kMargin, 44, 24, kText, title);
  draw_text(cairo.get(), kMargin, 70, 15, kFaint, subtitle);
  double y = kHeader;
  for (const SheetRow &row : rows) {
    draw_row(cairo.get(), row, y, width);
    y += kTile + kCaption + kGap;
  }
  check(cairo_status(cairo.get()));
  const cairo_status_t status = cairo_surface_write_to_png(sheet.get(), path.c_str());
  if (status != CAIRO_STATUS_SUCCESS)
    throw Failure("cannot write " + path + ": " + cairo_status_to_string(status));
}
