// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/muxframes.h"

#include <algorithm>

#include "gst/util/log.h"

namespace cudatensor {
namespace {

/// Maximum number of old frames of a camera that are dropped in one go, while the other cameras
/// wait.
constexpr int kMostDropped = 64;

GstClockTime since(GstClockTime time, GstClockTime now) { return now > time ? now - time : 0; }

Frame head_of(GstAggregatorPad *pad) {
  Frame head = {first_frame(pad)};
  if (head.buffer != nullptr) head.time = running_time_of(pad, head.buffer.get());
  return head;
}

}  // namespace

/// Returns the clock's running time; GST_CLOCK_TIME_NONE if the frames are not live.
GstClockTime MuxFrames::now() const {
  GstClock *clock = live_ ? gst_element_get_clock(GST_ELEMENT(element_)) : nullptr;
  if (clock == nullptr) return GST_CLOCK_TIME_NONE;
  const GstClockTime time = gst_clock_get_time(clock);
  const GstClockTime base = gst_element_get_base_time(GST_ELEMENT(element_));
  gst_object_unref(clock);
  return since(base, time);
}

bool MuxFrames::is_due(GstClockTime start) const {
  const GstClockTime latency = gst_aggregator_get_latency(element_), time = now();
  return GST_CLOCK_TIME_IS_VALID(time) && GST_CLOCK_TIME_IS_VALID(latency) &&
         time >= start + latency;
}

std::vector<Frame> MuxFrames::heads(const Pads &pads) const {
  std::vector<Frame> heads;
  for (const Ref<GstAggregatorPad> &pad : pads) heads.push_back(head_of(pad.get()));
  return heads;
}

std::optional<GstClockTime> MuxFrames::next_start(const std::vector<Frame> &heads) const {
  BatchSchedule::Heads times;
  for (const Frame &head : heads)
    if (head.buffer != nullptr) times.push_back(head.time);
  return schedule_.next_start(times, now());
}

void MuxFrames::post_dropped(gpointer where, GstClockTime time, GstClockTime pts) {
  GST_CAT_INFO_OBJECT(category_, where, "dropping a late frame: %" GST_TIME_FORMAT,
                      GST_TIME_ARGS(time));
  GstMessage *message = gst_message_new_qos(GST_OBJECT(where), live_, time, GST_CLOCK_TIME_NONE,
                                            pts, schedule_.window());
  gst_element_post_message(GST_ELEMENT(element_), message);
}

void MuxFrames::post_dropped(GstAggregatorPad *pad, const Frame &frame) {
  post_dropped(pad, frame.time, GST_BUFFER_PTS(frame.buffer.get()));
}

/// Returns whether a frame is not too late for the batch. A batch may lie in the future if the
/// clock of a camera is fast; frames of the other cameras do not count as older then.
bool MuxFrames::fits(GstClockTime time, GstClockTime start, GstClockTime clock) const {
  return !schedule_.is_late(time) ||
         since(time, std::min(start, clock)) <= std::max(kLateTolerance, schedule_.window());
}

bool MuxFrames::is_too_old(GstAggregatorPad *pad, GstClockTime time, GstClockTime start) const {
  const GstClockTime clock = now();
  return GST_CLOCK_TIME_IS_VALID(clock) && !fits(time, start, clock) &&
         camera_of(pad).lag.drops(since(time, clock), schedule_.window(), clock);
}

Frame MuxFrames::pop(GstAggregatorPad *pad) {
  Frame frame;
  frame.buffer.reset(gst_aggregator_pad_pop_buffer(pad));
  if (frame.buffer == nullptr) return frame;
  frame.time = running_time_of(pad, frame.buffer.get());
  if (frame.is_picture()) camera_of(pad).rate.add(frame.time);
  return frame;
}

/// Drops old frames in a loop, because the frame after a dropped one may be too old, too. `head` is
/// then the first frame, or empty if the pad is at EOS.
bool MuxFrames::is_ready(GstAggregatorPad *pad, GstClockTime start, Frame &head) {
  for (int dropped = 0; dropped < kMostDropped; ++dropped) {
    head = head_of(pad);
    if (head.buffer == nullptr) return gst_aggregator_pad_is_eos(pad);
    if (!is_too_old(pad, head.time, start)) return true;
    const Frame old = pop(pad);
    if (old.is_picture()) post_dropped(pad, old);
  }
  return false;
}

bool MuxFrames::are_ready(const Pads &pads, GstClockTime start) {
  bool all = true;
  Frame head;
  for (const Ref<GstAggregatorPad> &pad : pads) all &= is_ready(pad.get(), start, head);
  return all;
}

/// Returns whether the head of the queue replaces a frame that was taken. A gap does not replace a
/// picture.
bool MuxFrames::replaces(const Frame &head, const Frame &frame) const {
  if (frame.buffer == nullptr) return true;
  return live_ && schedule_.is_late(frame.time) && (head.is_picture() || !frame.is_picture());
}

Frame MuxFrames::take(GstAggregatorPad *pad, GstClockTime start) {
  Frame frame, head;
  for (int taken = 0; taken < kMostDropped && is_ready(pad, start, head); ++taken) {
    if (head.buffer == nullptr || !replaces(head, frame) || !schedule_.joins(head.time, start))
      break;
    if (frame.is_picture()) post_dropped(pad, frame);
    frame = pop(pad);
  }
  learn_age(pad, frame, start);
  return frame;
}

void MuxFrames::learn_age(GstAggregatorPad *pad, const Frame &frame, GstClockTime start) {
  const GstClockTime clock = now();
  if (frame.is_picture() && GST_CLOCK_TIME_IS_VALID(frame.time) && GST_CLOCK_TIME_IS_VALID(clock) &&
      fits(frame.time, start, clock))
    camera_of(pad).lag.in_time(since(frame.time, clock));
}

}  // namespace cudatensor
