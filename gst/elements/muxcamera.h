// SPDX-License-Identifier: LGPL-2.1-or-later
// A sink pad of cudatensormux, and the camera behind it.
#pragma once

#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gst/util/ref.h"
#include "kernels/resample.h"

G_BEGIN_DECLS

GType gst_cuda_tensor_mux_pad_get_type(void);

G_END_DECLS

namespace cudatensor {

/// What the mux knows of a camera; the streaming thread's, but for the number.
struct Camera {
  int index = -1;  // of its pad
  std::string stream_id;
  GstVideoInfo info = {};
  std::optional<Source> source;  // while there are caps that were taken
  std::string refusal;           // of the last caps: why they were not
};

/// Of a pad of the type above.
Camera &camera_of(GstAggregatorPad *pad);

/// The sink pads in the order of their numbers.
std::vector<Ref<GstAggregatorPad>> pads_of(GstAggregator *aggregator);

/// Of each slot its pad, or null. A pad whose number is below the batch size has the slot of that
/// number. Throws Error where there are more pads than slots; a batch size of 0 has as many.
using SlotPads = std::vector<GstAggregatorPad *>;
SlotPads assign_slots(const std::vector<Ref<GstAggregatorPad>> &pads, guint batch_size);

/// None where the buffer has no time, or its segment is none of time.
GstClockTime running_time_of(GstAggregatorPad *pad, GstBuffer *buffer);

/// 0 where caps do not say.
GstClockTime frame_duration_of(const Camera &camera);

/// The frame of a camera that waits first, or none. What is left of the time before a flush goes.
Ref<GstBuffer> peek(GstAggregatorPad *pad);

/// Whether each camera has a frame for the next batch, or none to wait for.
bool have_spoken(const std::vector<Ref<GstAggregatorPad>> &pads);
/// Whether there are cameras, and all have ended.
bool have_ended(const std::vector<Ref<GstAggregatorPad>> &pads);

/// Whether a buffer stands for a gap event.
bool is_gap(GstBuffer *buffer);

/// GstAggregatorClass::clip: drops what lies outside of its segment.
GstBuffer *clip_to_segment(GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);

}  // namespace cudatensor
