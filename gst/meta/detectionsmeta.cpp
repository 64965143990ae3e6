// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/detectionsmeta.h"

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

}  // namespace cudatensor
