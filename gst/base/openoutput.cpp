// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/openoutput.h"

#include <utility>

namespace cudatensor {

GstFlowReturn OpenOutput::keep(GstFlowReturn flow, GstBuffer **output) {
  if (*output == nullptr) return flow;
  // An output with earlier inputs outlives a dropped one.
  if (flow != GST_FLOW_OK && flow != GST_BASE_TRANSFORM_FLOW_DROPPED) {
    filter_.discard();
    return flow;
  }
  if (!filter_.is_complete()) buffer_.reset(std::exchange(*output, nullptr));
  return flow;
}

/// Elements downstream that refuse the buffer will refuse the next one, too, or post an error.
void OpenOutput::push() {
  if (!is_open()) return;
  Ref<GstBuffer> output = std::move(buffer_);
  const bool done =
      core_.with_session([&](Session &session) { filter_.complete(session, output.get()); });
  if (done)
    gst_pad_push(element_->srcpad, output.release());
  else
    filter_.discard();
}

void OpenOutput::discard() {
  buffer_.reset();
  filter_.discard();
}

bool OpenOutput::ends_output(GstEvent *event) const {
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

void OpenOutput::before_event(GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) return discard();
  if (is_open() && ends_output(event)) push();
}

bool OpenOutput::add_latency(GstQuery *query) const {
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
  gst_query_parse_latency(query, &live, &min, &max);
  const GstClockTime own = latency_;
  const GstClockTime most = GST_CLOCK_TIME_IS_VALID(max) ? max + own : GST_CLOCK_TIME_NONE;
  gst_query_set_latency(query, live, min + own, most);
  return true;
}

void OpenOutput::update_latency() {
  const GstClockTime next = filter_.latency();
  if (latency_.exchange(next) == next) return;
  gst_element_post_message(GST_ELEMENT(element_), gst_message_new_latency(GST_OBJECT(element_)));
}

}  // namespace cudatensor
