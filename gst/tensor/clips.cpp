// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/clips.h"

#include <utility>

namespace cudatensor {

void Clips::begin(const ClipShape &shape) {
  schedule_.begin(shape);
  tracks_ = std::vector<Track>(schedule_.tracks());
  update_latency();
}

void Clips::set_frame_duration(GstClockTime duration) {
  frame_duration_ = duration;
  update_latency();
}

guint Clips::held() const { return collects() ? static_cast<guint>(schedule_.tracks()) : 0; }

bool Clips::next() {
  const auto place = schedule_.next();
  place_ = place.value_or(ClipSchedule::Place());
  return place.has_value();
}

TensorPart Clips::part() const {
  if (!collects()) return {place_.frame, place_.track, true};
  const bool is_complete = place_.is_last && missing(tracks_[place_.track]).size() == 1;
  return {place_.frame, place_.track, is_complete};
}

void Clips::add(GstBuffer *frame, DescribedSlots slots) {
  tracks_[place_.track].frames.add(frame, std::move(slots), frame_duration_);
}

void Clips::add_missing(GstBuffer *frame) {
  tracks_[place_.track].frames.add_missing(frame, frame_duration_);
}

GstFlowReturn Clips::keep(GstFlowReturn flow, GstBuffer **tensor) {
  if (*tensor == nullptr || !collects()) return flow;
  Track &track = tracks_[place_.track];
  track.tensor.reset(std::exchange(*tensor, nullptr));
  if (flow != GST_FLOW_OK) discard();
  return flow == GST_FLOW_OK && place_.is_last ? finish(place_.track, tensor) : flow;
}

/// Returns the frames of a track's clip that have not been made.
std::vector<int64_t> Clips::missing(const Track &track) const {
  std::vector<int64_t> missing;
  for (int64_t i = 0; i < schedule_.shape().frames; ++i)
    if (track.frames.is_missing(static_cast<size_t>(i))) missing.push_back(i);
  return missing;
}

/// Completes a track's tensor. Posts the error and returns false if that fails.
bool Clips::complete(size_t number) {
  const Track &track = tracks_[number];
  const std::vector<int64_t> rest = missing(track);
  const auto slots = static_cast<size_t>(maker_.out().n);
  return core_of(element_).with_session([&](Session &session) {
    if (!rest.empty()) maker_.pad(session, track.tensor.get(), rest, number);
    track.frames.describe(track.tensor.get(), slots,
                          slots / static_cast<size_t>(schedule_.shape().frames));
  });
}

/// Gives a track the tensor of its next clip, with the frames that the full one has, too.
GstFlowReturn Clips::begin_next(size_t number, GstBuffer *full) {
  Track &track = tracks_[number];
  GstBuffer *tensor = nullptr;
  const GstFlowReturn flow = allocate_output(element_, track.frames.first(), &tensor);
  if (flow != GST_FLOW_OK) return flow;
  track.tensor.reset(tensor);
  const bool done = core_of(element_).with_session(
      [&](Session &session) { maker_.carry(session, full, tensor, schedule_.shift(), number); });
  return done ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/// Returns the full clip of a track, or none if no frame of it could be used, and goes on with the
/// next one.
GstFlowReturn Clips::finish(size_t number, GstBuffer **tensor) {
  Track &track = tracks_[number];
  const bool is_shown = track.frames.has_any();
  const bool done = !is_shown || complete(number);
  Ref<GstBuffer> full = std::move(track.tensor);
  track.frames.advance(static_cast<size_t>(schedule_.shift()));
  GstFlowReturn flow = done ? GST_FLOW_OK : GST_FLOW_ERROR;
  if (done && track.frames.has_any()) flow = begin_next(number, full.get());
  if (flow != GST_FLOW_OK)
    discard();
  else if (is_shown)
    *tensor = full.release();
  return flow;
}

GstFlowReturn Clips::miss(GstBuffer *frame) {
  if (!next() || !collects()) return GST_FLOW_OK;
  add_missing(frame);
  GstBuffer *tensor = nullptr;
  const GstFlowReturn flow = place_.is_last ? finish(place_.track, &tensor) : GST_FLOW_OK;
  return tensor != nullptr ? gst_pad_push(element_->srcpad, tensor) : flow;
}

/// Ignores the flow of the push: elements downstream that refuse the buffer refuse the next one,
/// too, or post an error.
void Clips::push() {
  const size_t oldest = schedule_.oldest();
  Track &track = tracks_[oldest];
  if (track.frames.has_new() && complete(oldest))
    gst_pad_push(element_->srcpad, track.tensor.release());
  discard();
}

bool Clips::ends_clip(GstEvent *event) const {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_STREAM_START: return true;
    case GST_EVENT_CAPS: break;
    default: return false;
  }
  GstCaps *next = nullptr;
  gst_event_parse_caps(event, &next);
  const Ref<GstCaps> current(gst_pad_get_current_caps(element_->sinkpad));
  return current == nullptr || !gst_caps_is_equal(current.get(), next);
}

void Clips::before_event(GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) return discard();
  if (ends_clip(event)) push();
}

void Clips::update_latency() {
  const auto wait = static_cast<GstClockTime>(schedule_.shape().wait()) * frame_duration_;
  if (latency_.exchange(wait) == wait) return;
  gst_element_post_message(GST_ELEMENT(element_), gst_message_new_latency(GST_OBJECT(element_)));
}

void Clips::add_latency(GstQuery *query) const {
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
  gst_query_parse_latency(query, &live, &min, &max);
  const GstClockTime own = latency_;
  const GstClockTime most = GST_CLOCK_TIME_IS_VALID(max) ? max + own : GST_CLOCK_TIME_NONE;
  gst_query_set_latency(query, live, min + own, most);
}

}  // namespace cudatensor
