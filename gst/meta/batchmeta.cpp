// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/batchmeta.h"

#include <array>

#include "gst/meta/geometrymeta.h"
#include "gst/util/values.h"

namespace cudatensor {
namespace {

void write_interest(GstStructure *s, const Roi &interest) {
  if (!interest.type.empty())
    gst_structure_set(s, "roi-type", G_TYPE_STRING, interest.type.c_str(), nullptr);
  gst_structure_set(s, "roi-id", G_TYPE_INT, interest.id, "parent-id", G_TYPE_INT,
                    interest.parent_id, nullptr);
}

void write_detection(GstStructure *s, const Detection &detection) {
  const gchar *type = g_quark_to_string(detection.type);
  if (type != nullptr) gst_structure_set(s, "detection-type", G_TYPE_STRING, type, nullptr);
  gst_structure_set(s, "detection-id", G_TYPE_UINT, detection.id, "confidence", G_TYPE_DOUBLE,
                    static_cast<double>(detection.confidence), nullptr);
}

void write_region(GstStructure *s, const FoundRegion &found) {
  const Region &r = found.region;
  set_array(s, "region", std::array<double, 4>{r.x, r.y, r.width, r.height}, G_TYPE_DOUBLE,
            g_value_set_double);
  if (found.interest) write_interest(s, *found.interest);
  if (found.detection) write_detection(s, *found.detection);
}

GstStructure *new_slot(const BatchSlot &slot) {
  GstStructure *s = gst_structure_new("slot", "valid", G_TYPE_BOOLEAN, slot.picture != nullptr,
                                      "pad-index", G_TYPE_INT, slot.pad_index, nullptr);
  if (!slot.stream_id.empty())
    gst_structure_set(s, "stream-id", G_TYPE_STRING, slot.stream_id.c_str(), nullptr);
  if (slot.picture == nullptr) return s;
  gst_structure_set(s, "pts", G_TYPE_UINT64, slot.pts, "duration", G_TYPE_UINT64, slot.duration,
                    "running-time", G_TYPE_UINT64, slot.running_time, nullptr);
  if (slot.source)
    gst_structure_set(s, "source-id", G_TYPE_UINT, slot.source->id, "source-width", G_TYPE_INT,
                      slot.source->width, "source-height", G_TYPE_INT, slot.source->height,
                      nullptr);
  write_geometry(slot.picture, s, slot.geometry);
  if (slot.region) write_region(s, *slot.region);
  return s;
}

BatchEntry entry_of(const GstStructure *s) {
  BatchEntry entry = {false, {}, 0, 0};
  gboolean valid = FALSE;
  entry.is_valid = gst_structure_get_boolean(s, "valid", &valid) && valid;
  if (const char *id = gst_structure_get_string(s, "stream-id")) entry.stream_id = id;
  gst_structure_get_int(s, "dst-width", &entry.width);
  gst_structure_get_int(s, "dst-height", &entry.height);
  return entry;
}

}  // namespace

void register_batch_meta() {
  static const gchar *tags[] = {nullptr};
  if (gst_meta_get_info(kBatchMeta) == nullptr)
    gst_meta_register_custom(kBatchMeta, tags, nullptr, nullptr, nullptr);
}

GType batch_meta_api() {
  static const GType api = gst_meta_get_info(kBatchMeta)->api;
  return api;
}

void set_picture(BatchSlot &slot, GstBuffer *picture, GstClockTime running_time) {
  slot.picture = picture;
  slot.pts = GST_BUFFER_PTS(picture);
  slot.duration = GST_BUFFER_DURATION(picture);
  slot.running_time = running_time;
}

void attach_batch(GstBuffer *out, const std::vector<BatchSlot> &slots, guint left_out) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(slots.size()));
  for (const BatchSlot &slot : slots) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed(&item, new_slot(slot));
    gst_value_array_append_and_take_value(&array, &item);
  }
  auto *meta = reinterpret_cast<GstCustomMeta *>(gst_buffer_get_meta(out, batch_meta_api()));
  if (meta == nullptr) meta = gst_buffer_add_custom_meta(out, kBatchMeta);
  GstStructure *s = gst_custom_meta_get_structure(meta);
  gst_structure_take_value(s, "slots", &array);
  gst_structure_set(s, "left-out", G_TYPE_UINT, left_out, nullptr);
}

std::optional<std::vector<BatchEntry>> batch_entries_of(GstBuffer *buffer) {
  auto *meta = reinterpret_cast<GstCustomMeta *>(gst_buffer_get_meta(buffer, batch_meta_api()));
  if (meta == nullptr) return std::nullopt;
  const GValue *slots = gst_structure_get_value(gst_custom_meta_get_structure(meta), "slots");
  if (slots == nullptr || !GST_VALUE_HOLDS_ARRAY(slots)) return std::nullopt;
  std::vector<BatchEntry> entries;
  for (guint i = 0; i < gst_value_array_get_size(slots); ++i) {
    const GValue *slot = gst_value_array_get_value(slots, i);
    if (!GST_VALUE_HOLDS_STRUCTURE(slot)) return std::nullopt;
    entries.push_back(entry_of(gst_value_get_structure(slot)));
  }
  return entries;
}

}  // namespace cudatensor
