// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaTensorBatchMeta: what lies in each slot of a batch.
//
// A custom meta, so that any language reads it through its GstStructure with no header of ours. Its
// field `slots` is a GST_TYPE_ARRAY of GstStructures, one for each slot in order: `valid` (gboolean:
// a picture is there; otherwise the slot is pad and only `pad-index` and `stream-id` may follow),
// `pad-index` (gint, the number of its sink pad, -1 = none), `stream-id` (string, where it is known),
// `pts`, `duration` and `running-time` of the picture (guint64, ns, GST_CLOCK_TIME_NONE where not
// known), and the fields of GstCudaTensorGeometryMeta, which speak of the slot as if it were alone.
// A slot that is for a region of its picture has `region` (GST_TYPE_ARRAY of four doubles: x, y, width
// and height in pixels of the frame that was cut) and, where a GstVideoRegionOfInterestMeta asked for
// it, `roi-type` (string), `roi-id` and `parent-id` (gint). Field `left-out` (guint) says for how many
// regions there was no slot.
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include "gst/meta/region.h"

namespace cudatensor {

constexpr const char *kBatchMeta = "GstCudaTensorBatchMeta";

/// Once per process, before buffers carry one.
void register_batch_meta();

GType batch_meta_api();

struct BatchSlot {
  GstBuffer *picture = nullptr;  ///< null where there is none
  int pad_index = -1;
  std::string stream_id;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  Geometry geometry = {};
  std::optional<FoundRegion> region;
};

/// Makes the slots those of `out`, whatever it carries.
void attach_batch(GstBuffer *out, const std::vector<BatchSlot> &slots, guint left_out = 0);

}  // namespace cudatensor
