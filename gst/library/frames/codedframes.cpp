// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/codedframes.h"

#include <gst/video/video.h>

#include <algorithm>
#include <utility>

#include "gst/library/frames/wholepictures.h"
#include "gst/util/log.h"

namespace cudatensor {
namespace {

/// In codecs, at most 16 pictures that are shown after a picture precede it in decoding order.
/// Among two pictures more than that, the next one to be shown and its successor are known.
constexpr size_t kMostReordered = 17;

/// Approximate bytes that a held picture takes besides its data.
constexpr gsize kDescription = 1024;
/// Most bytes of held pictures; further pictures are decoded instead.
constexpr gsize kMostHeld = 64 << 20;
/// The distance from which on a seek pays off, and how far before the frame it aims, because
/// demuxers look for the time of decoding.
constexpr StreamTime kFar = 10 * GST_SECOND, kBefore = 2 * GST_SECOND;

/// Returns the stream time of a position, also outside the segment.
StreamTime stream_time(const GstSegment &segment, GstClockTime position) {
  guint64 time = 0;
  const int sign = gst_segment_to_stream_time_full(&segment, GST_FORMAT_TIME, position, &time);
  return sign < 0 ? -static_cast<StreamTime>(time) : static_cast<StreamTime>(time);
}

/// Returns the chroma site of a coded stream. Without one, H.264 and H.265 site chroma as MPEG-2
/// does.
const gchar *chroma_site_of(const GstStructure *s) {
  const gchar *given = gst_structure_get_string(s, "chroma-site");
  if (given != nullptr) return g_intern_string(given);
  const bool is_h26x =
      gst_structure_has_name(s, "video/x-h264") || gst_structure_has_name(s, "video/x-h265");
  return is_h26x ? "mpeg2" : nullptr;
}

/// Returns the duration of a frame; 1 ns if the caps have no frame rate.
StreamTime frame_duration_of(GstCaps *caps) {
  gint n = 0, d = 0;
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  if (!gst_structure_get_fraction(s, "framerate", &n, &d) || n <= 0 || d <= 0) return 1;
  return static_cast<StreamTime>(gst_util_uint64_scale(GST_SECOND, d, n));
}

GstClockTime with_origin(StreamTime time) {
  return static_cast<GstClockTime>(
      std::max<StreamTime>(0, time + static_cast<StreamTime>(CodedFrames::kOrigin)));
}

}  // namespace

// ------------------------------------------------------------------------------ buffers, events

/// Decides whether frames are picked here, which needs timestamps: pictures without one cannot be
/// told apart after the decoder.
void CodedFrames::decide(GstBuffer *first) {
  const bool chooses = counter_ != nullptr || !chooser_.selection().is_everything();
  const bool picks = options_.may_drop && chooses && segment_.format == GST_FORMAT_TIME &&
                     segment_.rate > 0 && GST_BUFFER_PTS_IS_VALID(first) && finder_ &&
                     finder_->is_known() && !finder_->has_fields();
  const bool marks = chooser_.selection().kind == FrameSelection::Kind::keyframes && finder_ &&
                     !finder_->is_raw() && segment_.format == GST_FORMAT_TIME;
  mode_ = picks ? Mode::picking : marks ? Mode::marking : Mode::passing;
  if (!picks) {
    if (segment_event_ != nullptr) push(segment_event_.release());
    return;
  }
  GstSegment own;
  gst_segment_init(&own, GST_FORMAT_TIME);
  own.start = own.position = kOrigin;
  push(gst_event_new_segment(&own));
}

GstFlowReturn CodedFrames::chain(Ref<GstBuffer> buffer) {
  if (is_ended_) return GST_FLOW_EOS;
  if (mode_ == Mode::unknown) {
    decide(buffer.get());
    const StreamTime start = chooser_.selection().start.value_or(0);
    const GstFlowReturn flow = start > kBefore && is_picking() ? seek_to(start) : GST_FLOW_OK;
    if (flow != GST_FLOW_OK) return flow;
  }
  if (mode_ == Mode::picking) return add(std::move(buffer));
  if (mode_ == Mode::marking) buffer = marked(std::move(buffer));
  if (shifts_) buffer = shifted(std::move(buffer));
  return push(std::move(buffer));
}

/// Returns whether a buffer is a key frame. For codecs that are not known, buffers with headers are
/// no pictures.
bool CodedFrames::is_keyframe(GstBuffer *buffer) const {
  if (finder_->is_known()) return finder_->find(buffer) != RandomAccess::none;
  constexpr auto kOthers = GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_HEADER;
  return (GST_BUFFER_FLAGS(buffer) & kOthers) == 0 && GST_BUFFER_PTS_IS_VALID(buffer);
}

/// Picks the buffer if it is a key frame, in streams whose pictures cannot be left out. A key frame
/// with the timestamp of an earlier picture, or without one because a parser has removed it, gets a
/// later one, because it is shown after the pictures before it.
Ref<GstBuffer> CodedFrames::marked(Ref<GstBuffer> buffer) {
  const bool is_key = is_keyframe(buffer.get());
  const bool has_time = GST_BUFFER_PTS_IS_VALID(buffer.get());
  if (is_key && latest_ && (!has_time || GST_BUFFER_PTS(buffer.get()) <= *latest_)) {
    buffer.reset(gst_buffer_make_writable(buffer.release()));
    GST_BUFFER_PTS(buffer.get()) = *latest_ + 1;
  }
  const GstClockTime pts = GST_BUFFER_PTS(buffer.get());
  if (GST_CLOCK_TIME_IS_VALID(pts)) latest_ = std::max(latest_.value_or(0), pts);
  const StreamTime time = stream_time(segment_, pts);
  if (is_key) picks_->add(time, chooser_.choose(time, time + 1, true));
  return buffer;
}

/// Moves the timestamps into the segment that decide() has sent.
Ref<GstBuffer> CodedFrames::shifted(Ref<GstBuffer> buffer) const {
  buffer.reset(gst_buffer_make_writable(buffer.release()));
  GstBuffer *const b = buffer.get();
  if (GST_BUFFER_PTS_IS_VALID(b))
    GST_BUFFER_PTS(b) = with_origin(stream_time(segment_, GST_BUFFER_PTS(b)));
  if (GST_BUFFER_DTS_IS_VALID(b))
    GST_BUFFER_DTS(b) = with_origin(stream_time(segment_, GST_BUFFER_DTS(b)));
  return buffer;
}

/// Leaves the choice to the stage after the decoder, which gives all frames timestamps.
GstFlowReturn CodedFrames::give_up() {
  const bool marks = chooser_.selection().kind == FrameSelection::Kind::keyframes;
  shifts_ = true;
  mode_ = marks ? Mode::marking : Mode::passing;
  GstFlowReturn flow = GST_FLOW_OK;
  while (!held_.empty() && flow == GST_FLOW_OK) {
    Picture picture = take_held();
    latest_ = std::max(latest_.value_or(0), picture.pts);
    if (marks && picture.is_keyframe)
      picks_->add(picture.time, chooser_.choose(picture.time, picture.time + 1, true));
    flow = push(std::move(picture.buffer));
  }
  clear();
  return flow;
}

bool CodedFrames::begin_stream(Ref<GstEvent> event) {
  gst_event_copy_segment(event.get(), &segment_);
  if ((mode_ == Mode::passing || mode_ == Mode::marking) && !shifts_) return push(event.release());
  if (mode_ == Mode::unknown) segment_event_ = std::move(event);
  return true;
}

bool CodedFrames::event(Ref<GstEvent> event) {
  switch (GST_EVENT_TYPE(event.get())) {
    case GST_EVENT_FLUSH_START: seeker_.set_flushed(); return true;
    case GST_EVENT_FLUSH_STOP: return true;
    case GST_EVENT_SEGMENT: return begin_stream(std::move(event));
    case GST_EVENT_GAP: return true;
    case GST_EVENT_CAPS: {
      GstCaps *caps = nullptr;
      gst_event_parse_caps(event.get(), &caps);
      finder_.emplace(caps);
      frame_duration_ = frame_duration_of(caps);
      chroma_site_ = chroma_site_of(gst_caps_get_structure(caps, 0));
      break;
    }
    case GST_EVENT_EOS:
      if (is_ended_) return true;
      if (mode_ == Mode::unknown)
        GST_ELEMENT_ERROR(element(), STREAM, DEMUX, ("it ends before its first picture"),
                          (nullptr));
      else if (!end_warning_.empty())
        GST_ELEMENT_WARNING(element(), STREAM, DEMUX, ("%s", end_warning_.c_str()), (nullptr));
      options_.may_seek = false;  // every picture has come
      if (mode_ == Mode::picking) finish();
      if (mode_ == Mode::picking) return end(), true;
      is_ended_ = true;
      break;
    default: break;
  }
  if (withholds()) return push(event.release());
  return FrameStage::event(std::move(event));
}

bool CodedFrames::query(GstQuery *query) {
  if (!FrameStage::query(query)) return false;
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS) return true;
  GstCaps *caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  const Ref<GstCaps> whole(in_whole_pictures(caps));
  gst_query_set_caps_result(query, whole.get());
  return true;
}

// ------------------------------------------------------------------------------------- choosing

/// Returns `time`, or a later time that no other frame has, because timestamps identify frames
/// after the decoder.
StreamTime CodedFrames::unique_time(StreamTime time) const {
  if (is_of_burst(time, settled_)) time = settled_ + 1;
  while (waiting_.count(time) != 0) ++time;
  return time;
}

CodedFrames::Picture CodedFrames::describe(Ref<GstBuffer> buffer) {
  Picture picture = {};
  const GstClockTime pts = GST_BUFFER_PTS(buffer.get());
  const bool has_duration = GST_BUFFER_DURATION_IS_VALID(buffer.get());
  const GstClockTime length = has_duration ? GST_BUFFER_DURATION(buffer.get()) : 1;
  guint64 begin = 0, end = 0;
  picture.pts = pts;
  picture.number = number_++;
  picture.size = gst_buffer_get_size(buffer.get()) + kDescription;
  picture.access = finder_ ? finder_->find(buffer.get()) : RandomAccess::none;
  picture.is_keyframe = picture.access != RandomAccess::none;
  picture.is_reference = !finder_ || finder_->is_reference(buffer.get());
  picture.is_shown = finder_ && finder_->is_shown(buffer.get()) &&
                     gst_segment_clip(&segment_, GST_FORMAT_TIME, pts, pts + length, &begin, &end);
  // Decoders clip frames to the segment.
  picture.time = stream_time(segment_, picture.is_shown ? begin : pts);
  if (picture.is_shown) picture.time = unique_time(picture.time);
  picture.end =
      has_duration ? stream_time(segment_, picture.is_shown ? end : pts + length) : kNever;
  picture.buffer = shifted(std::move(buffer));
  GST_BUFFER_PTS(picture.buffer.get()) = with_origin(picture.time);
  return picture;
}

/// Returns whether a seek has not landed on a picture before its target from which decoding can
/// start. The demuxer's word suffices for such a picture.
bool CodedFrames::has_missed(const Picture &first) const {
  const bool is_delta = GST_BUFFER_FLAG_IS_SET(first.buffer.get(), GST_BUFFER_FLAG_DELTA_UNIT) ||
                        finder_->is_complete();
  const bool is_open = first.access == RandomAccess::open || !is_delta;
  const bool is_start =
      first.access == RandomAccess::closed || (is_open && options_.may_start_open);
  return target_ > 0 && (first.time > target_ || !is_start);
}

/// Handles the first picture after a seek: adds it, or reads from the start if the seek has missed.
GstFlowReturn CodedFrames::land(Picture picture) {
  const bool misses = has_missed(picture);
  if (misses) {
    const GstFlowReturn flow = seek_to(0);
    options_.may_seek = false;
    if (flow == GST_FLOW_OK)
      GST_ELEMENT_ERROR(element(), STREAM, DEMUX, ("the file cannot be read again after a seek"),
                        (nullptr));
    return flow == GST_FLOW_OK ? GST_FLOW_ERROR : flow;
  }
  // The seek has led back, because the file has no other random access point: it is read without
  // further seeks.
  if (picture.time <= left_) options_.may_seek = false;
  if (picture.access == RandomAccess::none) picture.access = RandomAccess::open;
  return wait(std::move(picture));
}

GstFlowReturn CodedFrames::add(Ref<GstBuffer> buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer.get())) {
    if (number_ <= kMostReordered) {
      const GstFlowReturn flow = give_up();
      return flow == GST_FLOW_OK ? chain(std::move(buffer)) : flow;
    }
    GST_ELEMENT_ERROR(element(), STREAM, FORMAT,
                      ("a coded picture has no timestamp: frames cannot be selected"), (nullptr));
    return GST_FLOW_ERROR;
  }
  Picture picture = describe(std::move(buffer));
  if (std::exchange(lands_, false)) return land(std::move(picture));
  if (picture.access == RandomAccess::open && !options_.may_start_open && picture.number > 0)
    picture.access = RandomAccess::none;
  return wait(std::move(picture));
}

/// Holds a picture until it is known when its frame and the next one are shown.
GstFlowReturn CodedFrames::wait(Picture picture) {
  if (picture.access != RandomAccess::none) groups_[++group_] = {picture.access, picture.time};
  picture.group = group_;
  if (picture.is_shown)
    waiting_.emplace(picture.time, Shown{picture.number, picture.group, picture.time, picture.end,
                                         picture.access, picture.is_keyframe});
  held_bytes_ += picture.size;
  held_.push_back(std::move(picture));
  const GstFlowReturn flow = settle(kMostReordered);
  return flow == GST_FLOW_OK ? check_held() : flow;
}

StreamTime CodedFrames::end_of(const Shown &last) const {
  return std::max(last.time + 1, last.end != kNever ? last.end : last.time + frame_duration_);
}

/// Passes on the pictures held until the end of the stream. Reports their flow errors here, because
/// no chain function returns them.
void CodedFrames::finish() {
  const GstFlowReturn flow = settle(0);
  if (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS) GST_ELEMENT_FLOW_ERROR(element(), flow);
}

/// Decides the frames whose successor is known.
GstFlowReturn CodedFrames::settle(size_t most_waiting) {
  while (waiting_.size() > most_waiting) {
    const Shown frame = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    const StreamTime next = waiting_.empty() ? end_of(frame) : waiting_.begin()->first;
    settled_ = frame.time;
    const GstFlowReturn flow = settle(frame, next);
    if (flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

GstFlowReturn CodedFrames::settle(const Shown &frame, StreamTime next) {
  if (chooser_.is_done(frame.time)) {
    end();
    return GST_FLOW_EOS;
  }
  const guint64 wanted = chooser_.choose(frame.time, next, frame.is_keyframe);
  drop_groups_before(leads(frame) ? frame.group - 1 : frame.group);
  if (counter_ != nullptr) {
    if (wanted > 0) counter_->add(frame.time);
    while (!held_.empty() && held_.front().number <= frame.number) take_held();
    return GST_FLOW_OK;
  }
  if (wanted == 0) set_unwanted(frame);
  if (wanted == 0) return seek_if_far(frame.time);
  picks_->add(frame.time, wanted);
  return pass_until(frame);
}

/// Returns whether a frame is shown before the random access point of its group.
bool CodedFrames::leads(const Shown &frame) const {
  const auto group = groups_.find(frame.group);
  return group != groups_.end() && group->second.access == RandomAccess::open &&
         frame.time < group->second.begin;
}

CodedFrames::Picture CodedFrames::take_held() {
  Picture picture = std::move(held_.front());
  held_.pop_front();
  held_bytes_ -= picture.size;
  return picture;
}

/// Marks the picture of a frame as unwanted. The numbers of held pictures have no gaps.
void CodedFrames::set_unwanted(const Shown &frame) {
  if (held_.empty() || frame.number < held_.front().number) return;
  held_[frame.number - held_.front().number].is_unwanted = true;
}

/// Drops the groups before a group, whose random access point ends them.
void CodedFrames::drop_groups_before(guint64 group) {
  while (!held_.empty() && held_.front().group < group) take_held();
  groups_.erase(groups_.begin(), groups_.lower_bound(group));
}

/// Passes on the pictures that a frame needs.
GstFlowReturn CodedFrames::pass_until(const Shown &frame) {
  const bool only_itself = chooser_.selection().kind == FrameSelection::Kind::keyframes &&
                           frame.access != RandomAccess::none;
  while (!held_.empty() && held_.front().number <= frame.number) {
    Picture picture = take_held();
    if (only_itself && picture.number != frame.number) continue;
    if (picture.is_unwanted && !picture.is_reference) {
      if (picture.number == passed_) ++passed_;
      continue;
    }
    const GstFlowReturn flow = pass(std::move(picture));
    if (flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

GstFlowReturn CodedFrames::pass(Picture picture) {
  const bool follows = picture.number == passed_;
  if (!follows && picture.access == RandomAccess::open) {
    if (passed_ != 0) reset_decoder();
    unled_group_ = picture.group;
  }
  const auto group = groups_.find(picture.group);
  const bool is_lost = picture.group == unled_group_ && unled_group_ != 0 &&
                       group != groups_.end() && picture.time < group->second.begin;
  passed_ = picture.number + 1;
  if (is_lost) return GST_FLOW_OK;
  if (!follows) GST_BUFFER_FLAG_SET(picture.buffer.get(), GST_BUFFER_FLAG_DISCONT);
  return push(std::move(picture.buffer));
}

/// Ends the stream, but sends no EOS to a decoder that has received no picture.
void CodedFrames::end() {
  clear();
  if (std::exchange(is_ended_, true)) return;
  if (counter_ != nullptr)
    counter_->end();
  else if (!is_used_ && on_unused_)
    on_unused_();
  else
    push(gst_event_new_eos());
}

GstFlowReturn CodedFrames::push(Ref<GstBuffer> buffer) {
  is_used_ = true;
  ++passed_on_;
  for (; !withheld_.empty(); withheld_.pop_front()) FrameStage::push(withheld_.front().release());
  return FrameStage::push(std::move(buffer));
}

bool CodedFrames::push(GstEvent *event) {
  if (!withholds()) return FrameStage::push(event);
  withheld_.emplace_back(event);
  return true;
}

/// Returns whether the frame of the first held picture is not decided yet.
bool CodedFrames::is_next_waiting() const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto &entry) {
    return entry.second.number == held_.front().number;
  });
}

/// Passes pictures on to be decoded if those held take too much memory.
GstFlowReturn CodedFrames::check_held() {
  while (held_bytes_ > kMostHeld && !held_.empty() && !is_next_waiting()) {
    const GstFlowReturn flow = pass(take_held());
    if (flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

/// Makes the decoder output all its frames and forget earlier pictures, to which the next ones do
/// not refer. The stage after the decoder does not forward the flush.
void CodedFrames::reset_decoder() {
  push(gst_video_event_new_still_frame(TRUE));
  const Ref<GstEvent> segment(gst_pad_get_sticky_event(src(), GST_EVENT_SEGMENT, 0));
  push(gst_event_new_flush_start());
  push(gst_event_new_flush_stop(FALSE));
  if (segment != nullptr) push(gst_event_ref(segment.get()));
}

void CodedFrames::clear() {
  held_.clear();
  held_bytes_ = 0;
  waiting_.clear();
  groups_.clear();
}

// ---------------------------------------------------------------------------------------- seeks

GstFlowReturn CodedFrames::seek_if_far(StreamTime time) {
  const StreamTime next = chooser_.next_time();
  const StreamTime last = waiting_.empty() ? time : waiting_.rbegin()->first;
  if (next == kNever || next == target_ || next - last < kFar) return GST_FLOW_OK;
  return seek_to(next);
}

/// Seeks if it may. Returns GST_FLOW_OK if there was no seek, GST_FLOW_FLUSHING after one, which
/// flushes this pad.
GstFlowReturn CodedFrames::seek_to(StreamTime time) {
  if (!options_.may_seek) return GST_FLOW_OK;
  target_ = time;
  // Seeks beyond the end make demuxers fail.
  gint64 duration = 0;
  if (!gst_pad_peer_query_duration(sink(), GST_FORMAT_TIME, &duration) || time >= duration)
    return GST_FLOW_OK;
  const StreamTime aim = std::max<StreamTime>(0, time - kBefore);
  options_.may_seek = seeker_.seek(element(), sink(), aim);
  if (!options_.may_seek) return GST_FLOW_OK;
  left_ = groups_.empty() ? -kNever : groups_.rbegin()->second.begin;
  clear();
  lands_ = true;
  ++number_;  // the next picture does not follow
  return GST_FLOW_FLUSHING;
}

}  // namespace cudatensor
