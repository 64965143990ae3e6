// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/restorer.h"

#include <algorithm>
#include <utility>

#include "gst/base/direction.h"
#include "gst/meta/carriedmetas.h"
#include "gst/meta/inputmeta.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Copies the times and the DISCONT flag from the picture, because elements that repeat or move
/// pictures have set them after the frame was kept.
void copy_timing(GstBuffer *picture, GstBuffer *frame) {
  GST_BUFFER_PTS(frame) = GST_BUFFER_PTS(picture);
  GST_BUFFER_DURATION(frame) = GST_BUFFER_DURATION(picture);
  if (GST_BUFFER_IS_DISCONT(picture)) GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
}

}  // namespace

/// Returns the frame of a picture and sets `caps` to the frame's. Throws Error if the picture
/// carries no frame.
Ref<GstBuffer> Restorer::restore(Ref<GstBuffer> picture, Ref<GstCaps> &caps) {
  KeptInput input = take_input(picture.get());
  if (input.frame == nullptr)
    throw Error(
        Error::Code::input,
        "a picture or tensor does not carry its frame: set keep-input=true on the cudaletterbox "
        "upstream; all elements between them must pass the metas of buffers on");
  // Writable without a copy unless another branch uses the frame, too. Then only the GstBuffer is
  // copied, not its memory.
  Ref<GstBuffer> frame(gst_buffer_make_writable(input.frame.release()));
  carry_back(picture.get(), frame.get(), input.map, input.same);
  copy_timing(picture.get(), frame.get());
  orientation_ = input.orientation;
  caps = std::move(input.caps);
  return frame;
}

GstFlowReturn Restorer::push(GstBuffer *picture) {
  errors_.next_frame();
  Ref<GstBuffer> frame;
  Ref<GstCaps> caps;
  if (!errors_.guard([&] { frame = restore(Ref<GstBuffer>(picture), caps); }))
    return GST_FLOW_ERROR;
  set_caps(caps.get());
  if (caps_ != nullptr) send_held();
  return gst_pad_push(src_, frame.release());
}

/// Sends new caps. Ignores a refusal: a pad that is flushing or at EOS
/// refuses the frame, too, and returns the reason.
void Restorer::set_caps(GstCaps *caps) {
  if (caps_ != nullptr && gst_caps_is_equal(caps_.get(), caps)) return;
  if (!gst_pad_push_event(src_, gst_event_new_caps(caps))) return;
  caps_.reset(gst_caps_ref(caps));
}

/// Sends the held events. Tags get the orientation that the frames had before they were turned.
void Restorer::send_held() {
  for (Ref<GstEvent> &each : std::exchange(held_, {})) {
    GstEvent *event = each.release();
    gst_pad_push_event(src_, orientation_ ? with_orientation(event, *orientation_) : event);
  }
}

void Restorer::drop_held(GstEventType type) {
  const auto has_type = [type](const Ref<GstEvent> &each) {
    return GST_EVENT_TYPE(each.get()) == type;
  };
  held_.erase(std::remove_if(held_.begin(), held_.end(), has_type), held_.end());
}

/// Keeps the last event of each type, except for types of which there may be several.
void Restorer::hold(GstEvent *event) {
  if ((GST_EVENT_TYPE(event) & GST_EVENT_TYPE_STICKY_MULTI) == 0) drop_held(GST_EVENT_TYPE(event));
  held_.emplace_back(event);
}

gboolean Restorer::handle(GstEvent *event) {
  Ref<GstEvent> owner(event);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
      return TRUE;  // dropped: the caps of the frames are sent
    // Dropped before the first frame, because sinks need caps before a gap.
    case GST_EVENT_GAP: return caps_ == nullptr || gst_pad_push_event(src_, owner.release());
    case GST_EVENT_FLUSH_STOP: drop_held(GST_EVENT_SEGMENT); break;
    case GST_EVENT_STREAM_START: held_.clear(); break;
    default: break;
  }
  if (has_orientation(event)) {
    hold(owner.release());
    return TRUE;
  }
  // Sticky events are sent in the order of their types.
  if (caps_ == nullptr && GST_EVENT_IS_STICKY(event) && GST_EVENT_TYPE(event) > GST_EVENT_CAPS &&
      GST_EVENT_TYPE(event) != GST_EVENT_EOS) {
    hold(owner.release());
    return TRUE;
  }
  return gst_pad_push_event(src_, owner.release());
}

void Restorer::reset() {
  caps_.reset();
  orientation_.reset();
  held_.clear();
  errors_.forget();
}

}  // namespace cudatensor
