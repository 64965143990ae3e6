// SPDX-License-Identifier: LGPL-2.1-or-later
// GstAnalyticsBatchMeta (GStreamer 1.28): the stream of each slot of a batch, with its sticky events
// and the times of its picture.
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include "gst/util/ref.h"

namespace cudatensor {

/// The sticky events of a stream: STREAM_START, CAPS and SEGMENT, as far as they are known.
class StreamEvents {
 public:
  /// Makes the events that have changed. `caps` may be null.
  void update(const std::string &stream_id, GstCaps *caps, const GstSegment &segment);
  const std::vector<Ref<GstEvent>> &events() const { return events_; }

 private:
  std::string stream_id_;
  Ref<GstCaps> caps_;
  GstSegment segment_ = {};
  std::vector<Ref<GstEvent>> events_;
};

struct BatchStream {
  const StreamEvents *events = nullptr;  ///< null if there is no stream
  GstBuffer *picture = nullptr;          ///< null if the slot holds no picture
};

/// Whether this release of GStreamer has the meta.
bool has_batch_streams();

/// Returns the meta's API type; G_TYPE_INVALID as long as no code of this process has used the
/// meta.
GType batch_streams_api();

/// Describes the streams, one for each slot, in the meta of `batch`, a buffer of a pool. GStreamer
/// 1.28 leaks some of the meta's memory when it is freed. The meta therefore stays with the buffer
/// while it is in the pool, and has the flag that keeps elements from copying it. The objects of a
/// stream are buffers with the times of its picture but without memory, so that a batch does not
/// hold the frames of cameras.
void attach_batch_streams(GstBuffer *batch, const std::vector<BatchStream> &streams);

}  // namespace cudatensor
