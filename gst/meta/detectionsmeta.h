// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaTensorDetectionsMeta holds the objects that a network has found in each slot of a batch.
//
// It is a custom meta, so that any language can read its GstStructure without a header. Its fields
// are GST_TYPE_ARRAYs with one item for each object: `slots` (gint: the slot, counted from 0),
// `stream-ids` (string: of the slot, empty if there is none), `class-ids` (gint), `labels` (string:
// without one, the class id), `confidences` (double) and `boxes` (double, four for each object: x0,
// y0, x1, y1 in pixels of the slot, neither rounded nor clipped). Without objects, the arrays are
// empty.
#pragma once

#include <gst/gst.h>

#include <array>
#include <string>
#include <vector>

namespace cudatensor {

constexpr const char *kDetectionsMeta = "GstCudaTensorDetectionsMeta";

/// Must be called once per process, before the meta is used.
void register_detections_meta();

GType detections_meta_api();

struct DetectedObject {
  int slot;
  std::string stream_id;
  int class_id;
  std::string label;
  double confidence;
  std::array<double, 4> box;
};

/// Sets the objects of the detections meta of a buffer, and adds the meta if it is missing.
void attach_detections(GstBuffer *buffer, const std::vector<DetectedObject> &objects);

/// Returns the objects of the detections meta of a buffer; none if it has no such meta, or one of
/// other code that lacks a field.
std::vector<DetectedObject> detected_objects_of(GstBuffer *buffer);

}  // namespace cudatensor
