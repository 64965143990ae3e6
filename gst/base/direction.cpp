// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/direction.h"

#include "gst/util/ref.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Returns the direction of a method that is one of the eight.
Direction direction_of(GstVideoOrientationMethod method) {
  switch (method) {
    case GST_VIDEO_ORIENTATION_90R: return Direction::clockwise;
    case GST_VIDEO_ORIENTATION_180: return Direction::half_turn;
    case GST_VIDEO_ORIENTATION_90L: return Direction::counterclockwise;
    case GST_VIDEO_ORIENTATION_HORIZ: return Direction::horizontal;
    case GST_VIDEO_ORIENTATION_VERT: return Direction::vertical;
    case GST_VIDEO_ORIENTATION_UL_LR: return Direction::main_diagonal;
    case GST_VIDEO_ORIENTATION_UR_LL: return Direction::anti_diagonal;
    default: return Direction::identity;
  }
}

/// Returns the direction in force; the identity for `custom`.
Direction in_force(const DirectionSettings &s) {
  if (s.method != GST_VIDEO_ORIENTATION_AUTO) return direction_of(s.method);
  return s.tag().value_or(Direction::identity);
}

void follow_tags(DirectionSettings &s, GstEvent *event) {
  GstTagList *tags = nullptr;
  gst_event_parse_tag(event, &tags);
  auto method = GST_VIDEO_ORIENTATION_IDENTITY;
  std::optional<Direction> direction;
  if (gst_video_orientation_from_tag(tags, &method)) direction = direction_of(method);
  (gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_GLOBAL ? s.global_tag : s.stream_tag) = direction;
}

void follow_stream(DirectionSettings &s, GstEvent *event) {
  const gchar *id = nullptr;
  gst_event_parse_stream_start(event, &id);
  if (s.stream_id == id) return;
  forget_tags(s);
  s.stream_id = id;
}

const char *tag_of(Direction direction) {
  switch (direction) {
    case Direction::identity: return "rotate-0";
    case Direction::clockwise: return "rotate-90";
    case Direction::half_turn: return "rotate-180";
    case Direction::counterclockwise: return "rotate-270";
    case Direction::horizontal: return "flip-rotate-0";
    case Direction::vertical: return "flip-rotate-180";
    case Direction::main_diagonal: return "flip-rotate-270";
    case Direction::anti_diagonal: return "flip-rotate-90";
  }
  return "rotate-0";
}

void set_orientation(GstTagList *tags, Direction direction) {
  gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, tag_of(direction),
                   nullptr);
}

/// Returns the event with its tags changed by `change`. Takes ownership of `event`.
template <class Change>
GstEvent *with_tags(GstEvent *event, const Change &change) {
  const Ref<GstEvent> before(event);
  GstTagList *tags = nullptr;
  gst_event_parse_tag(event, &tags);
  GstTagList *changed = gst_tag_list_copy(tags);
  change(changed);
  GstEvent *after = gst_event_new_tag(changed);
  gst_event_set_seqnum(after, gst_event_get_seqnum(event));
  gst_event_set_running_time_offset(after, gst_event_get_running_time_offset(event));
  return after;
}

}  // namespace

Direction DirectionSettings::direction() const {
  if (method == GST_VIDEO_ORIENTATION_CUSTOM)
    throw Error(Error::Code::settings, "video-direction=custom is not supported");
  return in_force(*this);
}

std::optional<Direction> DirectionSettings::tag() const {
  return stream_tag ? stream_tag : global_tag;
}

bool DirectionSettings::is_transposed() const { return orientation_of(in_force(*this)).transposed; }

std::optional<Effect> follow_event(DirectionSettings &settings, GstEvent *event) {
  const std::optional<Direction> before = settings.tag();
  if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) follow_tags(settings, event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) follow_stream(settings, event);
  return settings.tag() != before ? std::optional(Effect::next_frame) : std::nullopt;
}

void forget_tags(DirectionSettings &s) {
  s.stream_id.clear();
  s.stream_tag.reset();
  s.global_tag.reset();
}

bool has_orientation(GstEvent *event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_TAG) return false;
  GstTagList *tags = nullptr;
  gst_event_parse_tag(event, &tags);
  return gst_tag_list_get_tag_size(tags, GST_TAG_IMAGE_ORIENTATION) > 0;
}

GstEvent *without_orientation(GstEvent *event) {
  if (!has_orientation(event)) return event;
  return with_tags(
      event, [](GstTagList *tags) { gst_tag_list_remove_tag(tags, GST_TAG_IMAGE_ORIENTATION); });
}

GstEvent *with_orientation(GstEvent *event, Direction direction) {
  if (!has_orientation(event)) return event;
  return with_tags(event, [direction](GstTagList *tags) { set_orientation(tags, direction); });
}

GstEvent *with_default_orientation(GstEvent *event, Direction direction) {
  if (has_orientation(event)) return event;
  return with_tags(event, [direction](GstTagList *tags) { set_orientation(tags, direction); });
}

GParamSpec *direction_property() {
  return enum_property("video-direction", "Video direction",
                       "Direction in which the picture is turned or flipped; auto = as the tag "
                       "image-orientation of the stream says",
                       GST_TYPE_VIDEO_ORIENTATION_METHOD, GST_VIDEO_ORIENTATION_IDENTITY);
}

}  // namespace cudatensor
