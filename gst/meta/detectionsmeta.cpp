// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/detectionsmeta.h"

#include <optional>

#include "gst/util/values.h"

namespace cudatensor {
namespace {

/// Sets a field to the values that `value` returns for the objects.
template <class Value, class Set>
void set_field(GstStructure *s, const char *field, const std::vector<DetectedObject> &objects,
               GType type, const Value &value, Set set) {
  std::vector<decltype(value(objects[0]))> values;
  for (const DetectedObject &each : objects) values.push_back(value(each));
  set_array(s, field, values, type, set);
}

void set_boxes(GstStructure *s, const std::vector<DetectedObject> &objects) {
  std::vector<double> sides;
  for (const DetectedObject &each : objects)
    sides.insert(sides.end(), each.box.begin(), each.box.end());
  set_array(s, "boxes", sides, G_TYPE_DOUBLE, g_value_set_double);
}

/// Returns an item of an array; null unless it is there and of this type.
const GValue *item_of(const GstStructure *s, const char *field, guint index, GType type) {
  const GValue *array = gst_structure_get_value(s, field);
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array) || index >= gst_value_array_get_size(array))
    return nullptr;
  const GValue *item = gst_value_array_get_value(array, index);
  return G_VALUE_HOLDS(item, type) ? item : nullptr;
}

std::string text_of(const GValue *value) {
  const gchar *text = value != nullptr ? g_value_get_string(value) : nullptr;
  return text != nullptr ? text : "";
}

std::optional<DetectedObject> object_at(const GstStructure *s, guint i) {
  const GValue *slot = item_of(s, "slots", i, G_TYPE_INT);
  const GValue *id = item_of(s, "class-ids", i, G_TYPE_INT);
  const GValue *confidence = item_of(s, "confidences", i, G_TYPE_DOUBLE);
  if (slot == nullptr || id == nullptr || confidence == nullptr) return std::nullopt;
  DetectedObject object = {g_value_get_int(slot),
                           text_of(item_of(s, "stream-ids", i, G_TYPE_STRING)),
                           g_value_get_int(id),
                           text_of(item_of(s, "labels", i, G_TYPE_STRING)),
                           g_value_get_double(confidence),
                           {}};
  for (guint side = 0; side < object.box.size(); ++side) {
    const GValue *corner = item_of(s, "boxes", 4 * i + side, G_TYPE_DOUBLE);
    if (corner == nullptr) return std::nullopt;
    object.box[side] = g_value_get_double(corner);
  }
  return object;
}

}  // namespace

void register_detections_meta() {
  static const gchar *tags[] = {nullptr};
  if (gst_meta_get_info(kDetectionsMeta) == nullptr)
    gst_meta_register_custom(kDetectionsMeta, tags, nullptr, nullptr, nullptr);
}

GType detections_meta_api() {
  static const GType api = gst_meta_get_info(kDetectionsMeta)->api;
  return api;
}

void attach_detections(GstBuffer *buffer, const std::vector<DetectedObject> &objects) {
  using Object = const DetectedObject &;
  auto *meta =
      reinterpret_cast<GstCustomMeta *>(gst_buffer_get_meta(buffer, detections_meta_api()));
  if (meta == nullptr) meta = gst_buffer_add_custom_meta(buffer, kDetectionsMeta);
  GstStructure *s = gst_custom_meta_get_structure(meta);
  set_field(
      s, "slots", objects, G_TYPE_INT, [](Object o) { return o.slot; }, g_value_set_int);
  set_field(
      s, "stream-ids", objects, G_TYPE_STRING, [](Object o) { return o.stream_id.c_str(); },
      g_value_set_string);
  set_field(
      s, "class-ids", objects, G_TYPE_INT, [](Object o) { return o.class_id; }, g_value_set_int);
  set_field(
      s, "labels", objects, G_TYPE_STRING, [](Object o) { return o.label.c_str(); },
      g_value_set_string);
  set_field(
      s, "confidences", objects, G_TYPE_DOUBLE, [](Object o) { return o.confidence; },
      g_value_set_double);
  set_boxes(s, objects);
}

std::vector<DetectedObject> detected_objects_of(GstBuffer *buffer) {
  std::vector<DetectedObject> objects;
  auto *meta =
      reinterpret_cast<GstCustomMeta *>(gst_buffer_get_meta(buffer, detections_meta_api()));
  if (meta == nullptr) return objects;
  const GstStructure *s = gst_custom_meta_get_structure(meta);
  while (const auto object = object_at(s, static_cast<guint>(objects.size())))
    objects.push_back(*object);
  return objects;
}

}  // namespace cudatensor
