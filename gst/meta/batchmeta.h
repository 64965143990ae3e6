// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaTensorBatchMeta describes the contents of each slot of a batch.
//
// It is a custom meta, so that any language can read its GstStructure without a header. The field
// `slots` is a GST_TYPE_ARRAY with one GstStructure per slot, in order. Each has `valid` (gboolean:
// whether the slot holds a picture; if not, the slot is filled with the pad value and only
// `pad-index` and `stream-id` may be set), `pad-index` (gint: the number of the sink pad, -1 =
// none), `stream-id` (string, if known), `pts`, `duration` and `running-time` of the picture
// (guint64, ns, GST_CLOCK_TIME_NONE if unknown), and the fields of GstCudaTensorGeometryMeta, which
// describe the slot as if it were a separate tensor. If the slot holds a region of its picture, it
// has `region` (GST_TYPE_ARRAY of four doubles: x, y, width and height in pixels of the input
// frame). If the region comes from a GstVideoRegionOfInterestMeta, it also has `roi-type` (string),
// `roi-id` and `parent-id` (gint); if it comes from a GstAnalyticsODMtd, `detection-type` (string,
// unless the object has no type), `detection-id` (guint: the id in the frame's
// GstAnalyticsRelationMeta, or the object's index in the list of NvDsFrameMeta) and `confidence`
// (gdouble). If the picture comes from nvstreammux, the slot has `source-id` (guint),
// `source-width` and `source-height` (gint: of the frame before nvstreammux scaled it), and
// `pad-index` is a pad of nvstreammux. The field `left-out` (guint) is the number of regions that
// got no slot.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "gst/analytics/batchstreams.h"
#include "gst/meta/region.h"

namespace cudatensor {

constexpr const char *kBatchMeta = "GstCudaTensorBatchMeta";

/// Must be called once per process, before the meta is used.
void register_batch_meta();

GType batch_meta_api();

/// The source of a picture that nvstreammux has put into a batch.
struct MuxedSource {
  guint id;
  int width, height;  ///< pixels
};

struct BatchSlot {
  GstBuffer *picture = nullptr;  ///< null if the slot is not valid
  int pad_index = -1;
  std::string stream_id;
  GstClockTime pts = GST_CLOCK_TIME_NONE, duration = GST_CLOCK_TIME_NONE;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  std::optional<MuxedSource> source;
  Geometry geometry = {};
  std::optional<FoundRegion> region;
  const StreamEvents *events = nullptr;  ///< the stream's events; null if there are none
};

/// Fills a slot with a picture and its times.
void set_picture(BatchSlot &slot, GstBuffer *picture, GstClockTime running_time);

/// What readers of a batch need of a slot.
struct BatchEntry {
  bool is_valid;
  std::string stream_id;  ///< empty if there is none
  int width, height;      ///< of the slot in pixels; 0 if they are not known
};

/// Returns the slots of the batch meta of a buffer; no value if it has none.
std::optional<std::vector<BatchEntry>> batch_entries_of(GstBuffer *buffer);

/// Sets the slots of the batch meta of `out`, and adds the meta if it is missing.
void attach_batch(GstBuffer *out, const std::vector<BatchSlot> &slots, guint left_out = 0);

}  // namespace cudatensor
