// SPDX-License-Identifier: LGPL-2.1-or-later
// The sink pads of cudatensormux and the state of their cameras.
#pragma once

#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gst/analytics/batchstreams.h"
#include "gst/base/direction.h"
#include "gst/caps/inputcaps.h"
#include "gst/elements/cameralag.h"
#include "gst/elements/measuredrate.h"
#include "gst/util/faultyframes.h"
#include "gst/util/ref.h"
#include "kernels/error.h"

G_BEGIN_DECLS

GType gst_cuda_tensor_mux_pad_get_type(void);

G_END_DECLS

namespace cudatensor {

/// The mux's state for one camera. Used only by the streaming thread, except `index` and `method`.
struct Camera {
  int index = -1;  // the number in the pad's name
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;  // guarded by the pad's lock
  DirectionSettings direction;  // with the method of the current batch
  std::string stream_id;
  InputCaps input;        // parsed from `caps`
  bool has_caps = false;  // whether the pad has accepted its caps
  Ref<GstCaps> caps;      // the caps that were accepted last
  StreamEvents events;
  std::optional<Error> refusal;  // why the pad's last caps were rejected
  CameraLag lag;
  MeasuredRate rate;  // of the frames since the last caps
  FaultyFrames faulty_frames;
};

/// Returns the state of the pad's camera. `pad` must be a GstCudaTensorMuxPad.
Camera &camera_of(GstAggregatorPad *pad);

/// Takes the pad's property over. Returns whether width and height are exchanged.
bool latch_direction(GstAggregatorPad *pad);
/// Returns the camera's picture in its direction. Throws Error with the pad's name.
Source seen_source(GstAggregatorPad *pad);

/// Returns the sink pads, sorted by number.
std::vector<Ref<GstAggregatorPad>> sorted_sink_pads(GstAggregator *aggregator);

/// The pad of each slot, or null. A pad whose number is less than the batch size is assigned the
/// slot of that number. Throws Error if there are more pads than slots. With a batch size of 0
/// there is one slot per pad.
using SlotPads = std::vector<GstAggregatorPad *>;
SlotPads assign_slots(const std::vector<Ref<GstAggregatorPad>> &pads, guint batch_size);

/// Returns GST_CLOCK_TIME_NONE if the buffer has no timestamp or the segment is not in time format.
GstClockTime running_time_of(GstAggregatorPad *pad, GstBuffer *buffer);

/// Returns the current events of the pad's stream.
const StreamEvents &stream_events_of(GstAggregatorPad *pad);

/// Returns the frame duration that the caps announce; 0 if they have no frame rate, or one that no
/// camera has.
GstClockTime announced_duration_of(const Camera &camera);
/// Returns the announced duration, otherwise the measured one; 0 if neither is known.
GstClockTime frame_duration_of(const Camera &camera);
/// Returns a warning if the frames' times contradict the frame rate in the caps; otherwise empty.
std::string framerate_warning(const Camera &camera);

/// Returns the first frame in the pad's queue, which stays there, or null. Drops a frame that was
/// left over from before a flush.
Ref<GstBuffer> first_frame(GstAggregatorPad *pad);

/// Returns whether there is at least one pad and all pads are at EOS.
bool all_pads_eos(const std::vector<Ref<GstAggregatorPad>> &pads);

/// Returns whether GstAggregator created the buffer for a GAP event.
bool is_gap(GstBuffer *buffer);

/// Implements GstAggregatorClass::clip: drops frames that lie outside the segment.
GstBuffer *clip_to_segment(GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);

}  // namespace cudatensor
