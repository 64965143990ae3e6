// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/shownframes.h"

#include <algorithm>
#include <utility>

#include "gst/util/log.h"

namespace cudatensor {
namespace {

StreamTime time_of(const Ref<GstBuffer> &buffer) {
  return GST_BUFFER_PTS_IS_VALID(buffer.get())
             ? static_cast<StreamTime>(GST_BUFFER_PTS(buffer.get()))
             : 0;
}

bool is_keyframe(const Ref<GstBuffer> &buffer) {
  return !GST_BUFFER_FLAG_IS_SET(buffer.get(), GST_BUFFER_FLAG_DELTA_UNIT);
}

/// Returns a caps event with this chroma site, unless its caps have one. NVDEC's decoders of
/// GStreamer 1.22 do not state it, so that their frames would be converted differently from those
/// of other decoders.
Ref<GstEvent> with_chroma_site(Ref<GstEvent> event, const gchar *site) {
  GstCaps *caps = nullptr;
  gst_event_parse_caps(event.get(), &caps);
  GstVideoInfo info;
  const bool misses = site != nullptr && gst_video_info_from_caps(&info, caps) &&
                      GST_VIDEO_INFO_IS_YUV(&info) &&
                      GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, 1) > 0 &&
                      !gst_structure_has_field(gst_caps_get_structure(caps, 0), "chroma-site");
  if (!misses) return event;
  const Ref<GstCaps> complete(gst_caps_copy(caps));
  gst_caps_set_simple(complete.get(), "chroma-site", G_TYPE_STRING, site, nullptr);
  return Ref<GstEvent>(gst_event_new_caps(complete.get()));
}

}  // namespace

GstFlowReturn ShownFrames::repeat(Ref<GstBuffer> buffer, guint64 times) {
  GstFlowReturn flow = GST_FLOW_OK;
  chosen_ += times;
  for (guint64 i = 0; i < times && flow == GST_FLOW_OK; ++i)
    flow = push(Ref<GstBuffer>(gst_buffer_ref(buffer.get())));
  return flow;
}

/// Passes on or drops the held frame, which is shown until `next`.
GstFlowReturn ShownFrames::choose(StreamTime next) {
  if (held_ == nullptr) return GST_FLOW_OK;
  Ref<GstBuffer> frame = std::move(held_);
  const StreamTime time = time_of(frame);
  if (chooser_.is_done(time)) {
    end();
    return GST_FLOW_EOS;
  }
  const guint64 wanted = chooser_.choose(time, next, is_keyframe(frame));
  if (counter_ != nullptr) {
    const bool has_time = GST_BUFFER_PTS_IS_VALID(frame.get());
    chosen_ += wanted;
    if (wanted > 0) counter_->add(has_time ? std::optional(time) : std::nullopt);
    return GST_FLOW_OK;
  }
  return repeat(std::move(frame), wanted);
}

GstFlowReturn ShownFrames::chain(Ref<GstBuffer> buffer) {
  if (is_ended_) return GST_FLOW_EOS;
  ++decoded_;
  if (segment_.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer.get())) {
    const GstClockTime time =
        gst_segment_to_stream_time(&segment_, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer.get()));
    if (!GST_CLOCK_TIME_IS_VALID(time)) return GST_FLOW_OK;  // not shown
    buffer.reset(gst_buffer_make_writable(buffer.release()));
    GST_BUFFER_PTS(buffer.get()) = time;
  }
  StreamTime time = time_of(buffer);
  if (is_picking()) return repeat(std::move(buffer), picks_->take(time));
  if (GST_BUFFER_PTS_IS_VALID(buffer.get()) && is_of_burst(time, last_time_)) {
    buffer.reset(gst_buffer_make_writable(buffer.release()));
    GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(time = last_time_ + 1);
  }
  last_time_ = time;
  const GstFlowReturn flow = choose(time);
  if (flow != GST_FLOW_OK) return flow;
  held_ = std::move(buffer);
  return chooser_.selection().needs_end() ? GST_FLOW_OK : choose(time + 1);
}

/// Reports an error if no wanted frame was decoded: decoders may drop pictures that they cannot
/// decode without an error, even all of them.
void ShownFrames::check_decoder() {
  if (coded_ == nullptr || chosen_ > 0) return;
  const guint64 coded = coded_->passed_on();
  const bool is_missing = coded > 0 && (decoded_ == 0 || picks_->total() > 0);
  if (is_missing)
    GST_ELEMENT_ERROR(
        element(), STREAM, DECODE,
        ("expected wanted frames from %" G_GUINT64_FORMAT " coded pictures, the decoder gave none",
         coded),
        (nullptr));
}

void ShownFrames::end() {
  if (std::exchange(is_ended_, true)) return;
  check_decoder();
  if (counter_ != nullptr)
    counter_->end();
  else
    push(gst_event_new_eos());
}

void ShownFrames::finish() {
  if (is_ended_ || held_ == nullptr) return;
  GstClockTime duration = GST_BUFFER_DURATION(held_.get());
  if (!GST_CLOCK_TIME_IS_VALID(duration)) duration = std::max<GstClockTime>(frame_duration_, 1);
  choose(time_of(held_) + static_cast<StreamTime>(duration));
}

/// Sends the only segment, which is in stream time.
bool ShownFrames::begin_stream() {
  if (std::exchange(has_segment_, true)) return true;
  GstSegment own;
  gst_segment_init(&own, GST_FORMAT_TIME);
  return push(gst_event_new_segment(&own));
}

bool ShownFrames::event(Ref<GstEvent> event) {
  switch (GST_EVENT_TYPE(event.get())) {
    // Sent by CodedFrames::reset_decoder() only for the decoder.
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP: return true;
    case GST_EVENT_SEGMENT: gst_event_copy_segment(event.get(), &segment_); return begin_stream();
    case GST_EVENT_GAP: return true;
    case GST_EVENT_CAPS: {
      if (coded_ != nullptr) event = with_chroma_site(std::move(event), coded_->chroma_site());
      GstCaps *caps = nullptr;
      GstVideoInfo info;
      gst_event_parse_caps(event.get(), &caps);
      if (gst_video_info_from_caps(&info, caps) && info.fps_n > 0)
        frame_duration_ = gst_util_uint64_scale(GST_SECOND, info.fps_d, info.fps_n);
      break;
    }
    case GST_EVENT_EOS:
      finish();
      end();
      return true;
    default: break;
  }
  return FrameStage::event(std::move(event));
}

/// Asks pools for one more buffer, because a frame is held here.
bool ShownFrames::query(GstQuery *query) {
  if (!FrameStage::query(query)) return false;
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return true;
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); ++i) {
    GstBufferPool *pool = nullptr;
    guint size = 0, min = 0, max = 0;
    gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &min, &max);
    gst_query_set_nth_allocation_pool(query, i, pool, size, min + 1, max == 0 ? 0 : max + 1);
    gst_clear_object(&pool);
  }
  return true;
}

}  // namespace cudatensor
