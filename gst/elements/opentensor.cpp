// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/opentensor.h"

#include <utility>

namespace cudatensor {

void OpenTensor::add(GstBuffer *frame, GstBuffer *tensor, DescribedSlots slots,
                     GstClockTime duration, guint most) {
  batch_.add(frame, std::move(slots), duration);
  if (batch_.frames() == most) batch_.describe(tensor, static_cast<size_t>(maker_.out().n));
}

GstFlowReturn OpenTensor::keep(GstFlowReturn flow, GstBuffer **tensor) {
  if (*tensor == nullptr) return flow;
  // A dropped frame does not discard a tensor that has earlier frames.
  if (flow != GST_FLOW_OK && flow != GST_BASE_TRANSFORM_FLOW_DROPPED) {
    batch_.clear();
    return flow;
  }
  if (frames() > 0) buffer_.reset(std::exchange(*tensor, nullptr));
  return flow;
}

/// Ignores the flow of the push: elements downstream that refuse the buffer refuse the next one,
/// too, or post an error.
void OpenTensor::push() {
  if (buffer_ == nullptr) return;
  Ref<GstBuffer> tensor = std::move(buffer_);
  const bool done = core_of(element_).with_session([&](Session &session) {
    maker_.pad(session, tensor.get(), frames());
    batch_.describe(tensor.get(), static_cast<size_t>(maker_.out().n));
  });
  if (!done) return batch_.clear();
  gst_pad_push(element_->srcpad, tensor.release());
}

void OpenTensor::discard() {
  buffer_.reset();
  batch_.clear();
}

bool OpenTensor::ends_tensor(GstEvent *event) const {
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

void OpenTensor::before_event(GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) return discard();
  if (ends_tensor(event)) push();
}

void OpenTensor::set_latency(GstClockTime latency) {
  if (latency_.exchange(latency) == latency) return;
  gst_element_post_message(GST_ELEMENT(element_), gst_message_new_latency(GST_OBJECT(element_)));
}

void OpenTensor::add_latency(GstQuery *query) const {
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
  gst_query_parse_latency(query, &live, &min, &max);
  const GstClockTime own = latency_;
  const GstClockTime most = GST_CLOCK_TIME_IS_VALID(max) ? max + own : GST_CLOCK_TIME_NONE;
  gst_query_set_latency(query, live, min + own, most);
}

}  // namespace cudatensor
