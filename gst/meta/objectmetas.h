// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects as the metas that other elements read: GstVideoRegionOfInterestMeta and, from GStreamer
// 1.24 on, GstAnalyticsODMtd or GstAnalyticsClsMtd.
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include "gst/util/boxmap.h"

namespace cudatensor {

struct ObjectMeta {
  Box box;  ///< in pixels
  std::string label;
  int class_id;
  double confidence;
};

/// Returns the type of an object's metas: its label. Quarks stay for the life of the process, so
/// that classes beyond all models' share one.
GQuark type_of(const std::string &label, int class_id);

/// Adds a region for each object, whose parameter `detection` has `confidence` (double) and
/// `label_id` (gint), and a GstAnalyticsODMtd.
void add_object_metas(GstBuffer *buffer, const std::vector<ObjectMeta> &objects);

/// The same for the classes of a whole picture: one GstAnalyticsClsMtd has all of them.
void add_class_metas(GstBuffer *buffer, const std::vector<ObjectMeta> &classes);

}  // namespace cudatensor
