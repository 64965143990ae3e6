// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/slots.h"

#include <algorithm>

#include "gst/meta/batchmeta.h"
#include "gst/meta/geometryfields.h"
#include "gst/meta/geometrymeta.h"

namespace cudatensor {
namespace {

/// Returns null if the buffer has no such meta, or if the plugin that registers it is not loaded.
const GstStructure *find_meta(GstBuffer *buffer, const char *name) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, name);
  return meta != nullptr ? gst_custom_meta_get_structure(meta) : nullptr;
}

std::optional<GstCudaTensorGeometry> geometry_of(const GstStructure *s) {
  const auto facts = read_geometry(s);
  if (!facts) return std::nullopt;
  GstCudaTensorGeometry geometry = {};
  std::copy(facts->matrix.begin(), facts->matrix.end(), geometry.matrix);
  std::copy(facts->inverse.begin(), facts->inverse.end(), geometry.inverse);
  int *const sizes[] = {&geometry.src_width,     &geometry.src_height,    &geometry.dst_width,
                        &geometry.dst_height,    &geometry.pad_left,      &geometry.pad_top,
                        &geometry.content_width, &geometry.content_height};
  static_assert(std::size(sizes) == std::size(kGeometrySizes));
  for (size_t i = 0; i < std::size(sizes); ++i) *sizes[i] = facts->sizes[i];
  return geometry;
}

GstClockTime time_of(const GstStructure *s, const char *field) {
  guint64 time = GST_CLOCK_TIME_NONE;
  gst_structure_get_uint64(s, field, &time);
  return time;
}

void read_roi(const GstStructure *s, GstCudaTensorSlot &slot) {
  slot.has_roi = gst_structure_get_int(s, "roi-id", &slot.roi_id) &&
                 gst_structure_get_int(s, "parent-id", &slot.parent_id);
  if (slot.has_roi) slot.roi_type = gst_structure_get_string(s, "roi-type");
}

void read_detection(const GstStructure *s, GstCudaTensorSlot &slot) {
  slot.has_detection = gst_structure_get_uint(s, "detection-id", &slot.detection_id) &&
                       gst_structure_get_double(s, "confidence", &slot.confidence);
  if (slot.has_detection) slot.detection_type = gst_structure_get_string(s, "detection-type");
}

void read_region(const GstStructure *s, GstCudaTensorSlot &slot) {
  slot.has_region = read_doubles(s, "region", slot.region, G_N_ELEMENTS(slot.region));
  if (!slot.has_region) return;
  read_roi(s, slot);
  read_detection(s, slot);
}

void read_picture(const GstStructure *s, GstCudaTensorSlot &slot) {
  slot.pts = time_of(s, "pts");
  slot.duration = time_of(s, "duration");
  slot.running_time = time_of(s, "running-time");
  const auto geometry = geometry_of(s);
  slot.has_geometry = geometry.has_value();
  if (geometry) slot.geometry = *geometry;
  read_region(s, slot);
}

GstCudaTensorSlot slot_of(const GstStructure *s) {
  GstCudaTensorSlot slot = {};
  slot.pad_index = -1;
  slot.pts = slot.duration = slot.running_time = GST_CLOCK_TIME_NONE;
  gst_structure_get_boolean(s, "valid", &slot.valid);
  gst_structure_get_int(s, "pad-index", &slot.pad_index);
  slot.stream_id = gst_structure_get_string(s, "stream-id");
  if (slot.valid) read_picture(s, slot);
  return slot;
}

}  // namespace

std::optional<GstCudaTensorGeometry> read_geometry_meta(GstBuffer *buffer) {
  const GstStructure *s = find_meta(buffer, kGeometryMeta);
  return s != nullptr ? geometry_of(s) : std::nullopt;
}

BatchContents read_batch_meta(GstBuffer *buffer) {
  BatchContents batch;
  const GstStructure *s = find_meta(buffer, kBatchMeta);
  const GValue *array = s != nullptr ? gst_structure_get_value(s, "slots") : nullptr;
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array)) return batch;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i) {
    const GValue *item = gst_value_array_get_value(array, i);
    if (!GST_VALUE_HOLDS_STRUCTURE(item)) return {};
    batch.slots.push_back(slot_of(gst_value_get_structure(item)));
  }
  gst_structure_get_uint(s, "left-out", &batch.left_out);
  return batch;
}

}  // namespace cudatensor

void gst_cuda_tensor_geometry_map_box(const GstCudaTensorGeometry *geometry, const gdouble box[4],
                                      gdouble source_box[4]) {
  g_return_if_fail(geometry != nullptr);
  g_return_if_fail(box != nullptr);
  g_return_if_fail(source_box != nullptr);
  const double x[] = {box[0], box[2]}, y[] = {box[1], box[3]};
  for (int axis = 0; axis < 2; ++axis) {
    const double *const m = geometry->inverse + 3 * axis;
    const auto at = [&](int i, int j) { return m[0] * x[i] + m[1] * y[j] + m[2]; };
    const auto [low, high] = std::minmax({at(0, 0), at(1, 0), at(0, 1), at(1, 1)});
    source_box[axis] = low;
    source_box[axis + 2] = high;
  }
}

void gst_cuda_tensor_geometry_map_point(const GstCudaTensorGeometry *geometry,
                                        const gdouble point[2], gdouble source_point[2]) {
  g_return_if_fail(geometry != nullptr);
  g_return_if_fail(point != nullptr);
  g_return_if_fail(source_point != nullptr);
  const double *const m = geometry->inverse;
  const double x = point[0], y = point[1];
  source_point[0] = m[0] * x + m[1] * y + m[2];
  source_point[1] = m[3] * x + m[4] * y + m[5];
}
