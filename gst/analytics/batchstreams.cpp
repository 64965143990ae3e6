// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/analytics/batchstreams.h"

#include "gst/analytics/gstanalyticslibrary.h"
#include "gst/util/gstversion.h"

namespace cudatensor {

using namespace gstanalytics;

namespace {

constexpr gsize kMostEvents = 3;

/// Returns the segment without its position, which changes with each buffer.
GstSegment unmoved(GstSegment segment) {
  segment.position = 0;
  return segment;
}

void drop_contents(BatchStreamData &stream) {
  for (gsize i = 0; i < stream.n_sticky_events; ++i) gst_event_unref(stream.sticky_events[i]);
  for (gsize i = 0; i < stream.n_objects; ++i) gst_mini_object_unref(stream.objects[i]);
  stream.n_sticky_events = stream.n_objects = 0;
}

/// Gives the meta `count` streams. Their arrays are allocated with GLib, because the meta frees
/// them with g_free().
void resize(BatchMeta &meta, gsize count) {
  if (meta.n_streams == count) return;
  for (gsize i = 0; i < meta.n_streams; ++i) {
    drop_contents(meta.streams[i]);
    g_free(meta.streams[i].sticky_events);
    g_free(meta.streams[i].objects);
  }
  g_free(meta.streams);
  meta.streams = g_new0(BatchStreamData, count);
  meta.n_streams = count;
  for (gsize i = 0; i < count; ++i) {
    meta.streams[i].index = static_cast<guint>(i);
    meta.streams[i].sticky_events = g_new0(GstEvent *, kMostEvents);
    meta.streams[i].objects = g_new0(GstMiniObject *, 1);
  }
}

GstMiniObject *times_of(GstBuffer *picture) {
  constexpr auto kTimes =
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS);
  GstBuffer *times = gst_buffer_new();
  gst_buffer_copy_into(times, picture, kTimes, 0, static_cast<gsize>(-1));
  return GST_MINI_OBJECT_CAST(times);
}

void fill(BatchStreamData &stream, const BatchStream &from) {
  drop_contents(stream);
  if (from.events != nullptr)
    for (const Ref<GstEvent> &event : from.events->events())
      stream.sticky_events[stream.n_sticky_events++] = gst_event_ref(event.get());
  if (from.picture != nullptr) stream.objects[stream.n_objects++] = times_of(from.picture);
}

}  // namespace

void StreamEvents::update(const std::string &stream_id, GstCaps *caps, const GstSegment &segment) {
  const GstSegment next = unmoved(segment);
  const bool same_caps = caps == caps_.get() || (caps != nullptr && caps_ != nullptr &&
                                                 gst_caps_is_equal(caps, caps_.get()));
  if (!events_.empty() && same_caps && stream_id == stream_id_ &&
      gst_segment_is_equal(&next, &segment_))
    return;
  stream_id_ = stream_id;
  caps_.reset(caps != nullptr ? gst_caps_ref(caps) : nullptr);
  segment_ = next;
  events_.clear();
  if (!stream_id.empty()) events_.emplace_back(gst_event_new_stream_start(stream_id.c_str()));
  if (caps != nullptr) events_.emplace_back(gst_event_new_caps(caps));
  if (segment.format != GST_FORMAT_UNDEFINED)
    events_.emplace_back(gst_event_new_segment(&segment_));
}

bool has_batch_streams() {
  static const bool has =
      is_at_least_1(28) && library() != nullptr && library()->add_batch_meta != nullptr;
  return has;
}

GType batch_streams_api() { return g_type_from_name("GstAnalyticsBatchMetaAPI"); }

void attach_batch_streams(GstBuffer *batch, const std::vector<BatchStream> &streams) {
  BatchMeta *meta = library()->get_batch_meta(batch);
  if (meta == nullptr) {
    meta = library()->add_batch_meta(batch);
    meta->meta.flags = static_cast<GstMetaFlags>(meta->meta.flags | GST_META_FLAG_POOLED);
  }
  resize(*meta, streams.size());
  for (size_t i = 0; i < streams.size(); ++i) fill(meta->streams[i], streams[i]);
}

}  // namespace cudatensor
