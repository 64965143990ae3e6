// SPDX-License-Identifier: LGPL-2.1-or-later
#include "contactsheet.h"

#include <algorithm>
#include <cmath>

#include "pipeline.h"

namespace {

// Sizes in pixels of the sheet.
constexpr double kMargin = 28, kGap = 16, kTile = 480, kCaption = 30, kHeader = 92;
constexpr int kChannels = 3;
constexpr double kChannelTile = (kTile - (kChannels - 1) * kGap) / kChannels;
/// Frames with other aspect ratios are scaled down to fit.
constexpr double kWidest = 16.0 / 9, kNarrowest = 3.0 / 4;

struct DestroyPattern {
  void operator()(cairo_pattern_t *pattern) const { cairo_pattern_destroy(pattern); }
};

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

/// Draws the legend for the gray levels of the channels.
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
  // The converter requires that these are equal.
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
  const Context cairo = begin_sheet(sheet, kMargin, title, subtitle);
  double y = kHeader;
  for (const SheetRow &row : rows) {
    draw_row(cairo.get(), row, y, width);
    y += kTile + kCaption + kGap;
  }
  write_png(cairo, sheet, path);
}
