// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report.h"

#include <array>
#include <cstdio>
#include <optional>

namespace {

using Box = std::array<double, 4>;  // x0, y0, x1, y1

/// A frame before nvstreammux, which may have scaled it.
struct MuxedFrame {
  guint id;
  gint width, height;
};

/// Returns the fields of nvstreammux, which only the batch meta has; no value without nvstreammux.
std::optional<MuxedFrame> muxed_frame(const GstCudaTensor *batch, guint slot) {
  const GstCustomMeta *meta =
      gst_buffer_get_custom_meta(gst_cuda_tensor_get_buffer(batch), "GstCudaTensorBatchMeta");
  if (meta == nullptr) return {};
  const GValue *slots = gst_structure_get_value(
      gst_custom_meta_get_structure(const_cast<GstCustomMeta *>(meta)), "slots");
  const GstStructure *fields = gst_value_get_structure(gst_value_array_get_value(slots, slot));
  MuxedFrame frame;
  if (!gst_structure_get(fields, "source-id", G_TYPE_UINT, &frame.id, "source-width", G_TYPE_INT,
                         &frame.width, "source-height", G_TYPE_INT, &frame.height, nullptr))
    return {};
  return frame;
}

/// Returns the middle of the content, in pixels of the tensor. Stands in for a detection.
Box example_box(const GstCudaTensorGeometry &g) {
  const double x = g.pad_left, y = g.pad_top, width = g.content_width, height = g.content_height;
  return {x + width / 4, y + height / 4, x + 3 * width / 4, y + 3 * height / 4};
}

/// Returns a box in pixels of the source. The library maps it to the element's input picture, which
/// nvstreammux has scaled to a common size; this undoes the scaling, unless enable-padding is set.
Box in_source(const GstCudaTensorGeometry &g, const std::optional<MuxedFrame> &frame,
              const Box &box) {
  Box mapped;
  gst_cuda_tensor_geometry_map_box(&g, box.data(), mapped.data());
  if (!frame) return mapped;
  const double x = static_cast<double>(frame->width) / g.src_width,
               y = static_cast<double>(frame->height) / g.src_height;
  return {x * mapped[0], y * mapped[1], x * mapped[2], y * mapped[3]};
}

void print_box(const char *before, const Box &box) {
  std::printf("%s%.1f,%.1f-%.1f,%.1f", before, box[0], box[1], box[2], box[3]);
}

void print_geometry(const GstCudaTensorGeometry &g, const std::optional<MuxedFrame> &frame) {
  std::printf(", %dx%d at %d,%d %dx%d of %dx%d", g.src_width, g.src_height, g.pad_left, g.pad_top,
              g.content_width, g.content_height, g.dst_width, g.dst_height);
  const Box box = example_box(g);
  print_box(", box ", box);
  print_box(" is ", in_source(g, frame, box));
}

}  // namespace

guint print_slots(const GstCudaTensor *batch, const std::vector<float> &results) {
  guint pictures = 0;
  GstCudaTensorSlot slot;
  for (guint i = 0; gst_cuda_tensor_get_slot(batch, i, &slot); ++i) {
    std::printf("  slot %u: source %d", i, slot.pad_index);
    if (!slot.valid) {
      std::puts(", empty");
      continue;
    }
    ++pictures;
    const auto frame = muxed_frame(batch, i);
    if (frame) std::printf(", id %u, %dx%d", frame->id, frame->width, frame->height);
    std::printf(", pts %.3f s", 1e-9 * static_cast<double>(slot.pts));
    if (slot.has_geometry) print_geometry(slot.geometry, frame);
    std::printf(", center pixel %+.3f\n", results[i]);
  }
  return pictures;
}
