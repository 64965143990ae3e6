// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/givenframes.h"

#include <utility>

#include "gst/util/log.h"

namespace cudatensor {

// ------------------------------------------------------------------------------------- the format

/// Returns why the next element does not accept these caps; empty if it does.
std::string GivenFrames::refusal(const GstCaps *caps, const GstVideoInfo *info) const {
  if (gst_pad_peer_query_accept_caps(src(), const_cast<GstCaps *>(caps))) return "";
  const GstCapsFeatures *features = gst_caps_get_features(caps, 0);
  const Ref<GstCaps> format(gst_caps_new_empty_simple("video/x-raw"));
  gst_caps_set_features(format.get(), 0, gst_caps_features_copy(features));
  if (info != nullptr)
    gst_caps_set_simple(format.get(), "format", G_TYPE_STRING,
                        gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(info)), nullptr);
  const Ref<GstCaps> taken(gst_pad_peer_query_caps(src(), nullptr));
  if (info != nullptr && !gst_caps_can_intersect(format.get(), taken.get()))
    return taker_ + " does not take the pixel format " +
           gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(info));
  gchar *text = gst_caps_to_string(caps);
  const std::string all = text;
  g_free(text);
  return taker_ + " does not take " + all;
}

bool GivenFrames::take_caps(GstCaps *caps) {
  GstVideoInfo info;
  const bool is_known = gst_video_info_from_caps(&info, caps);
  const std::string why = refusal(caps, is_known ? &info : nullptr);
  if (!why.empty()) {
    GST_ELEMENT_ERROR(element(), STREAM, FORMAT, ("%s", why.c_str()), (nullptr));
    return false;
  }
  info_ = is_known ? std::optional(info) : std::nullopt;
  has_news_ = true;
  return true;
}

/// Tells the format before the first frame, when all tags of its decoder have come, so that nobody
/// reads a size that is exchanged before a frame has it.
void GivenFrames::tell_info() {
  if (!has_news_ || !info_) return;
  has_news_ = false;
  GstVideoInfo seen = *info_;
  if (direction_.is_transposed()) std::swap(seen.width, seen.height);
  on_info_(seen);
}

// ------------------------------------------------------------------------------- the orientation

/// Sends the orientation that the source states as that of the whole file, over which a tag of the
/// stream wins.
bool GivenFrames::begin_stream(Ref<GstEvent> event) {
  if (!FrameStage::event(std::move(event))) return false;
  if (stored_ == Direction::identity) return true;
  GstTagList *tags = gst_tag_list_new_empty();
  gst_tag_list_set_scope(tags, GST_TAG_SCOPE_GLOBAL);
  return take_tags(Ref<GstEvent>(gst_event_new_tag(tags)));
}

/// Adds the orientation that the source states to tags of the whole file that have none, because
/// they replace those before.
bool GivenFrames::take_tags(Ref<GstEvent> event) {
  GstTagList *tags = nullptr;
  gst_event_parse_tag(event.get(), &tags);
  if (stored_ != Direction::identity && gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_GLOBAL)
    event.reset(with_default_orientation(event.release(), stored_));
  if (follow_event(direction_, event.get())) has_news_ = true;
  return FrameStage::event(std::move(event));
}

// ----------------------------------------------------------------------------------------- the pads

GstFlowReturn GivenFrames::chain(Ref<GstBuffer> buffer) {
  tell_info();
  return push(std::move(buffer));
}

bool GivenFrames::event(Ref<GstEvent> event) {
  switch (GST_EVENT_TYPE(event.get())) {
    case GST_EVENT_STREAM_START:
      follow_event(direction_, event.get());
      return begin_stream(std::move(event));
    case GST_EVENT_TAG: return take_tags(std::move(event));
    case GST_EVENT_CAPS: {
      GstCaps *caps = nullptr;
      gst_event_parse_caps(event.get(), &caps);
      if (!take_caps(caps)) return false;
      break;
    }
    case GST_EVENT_EOS: tell_info(); break;
    default: break;
  }
  return FrameStage::event(std::move(event));
}

bool GivenFrames::query(GstQuery *query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ACCEPT_CAPS) return FrameStage::query(query);
  gst_query_set_accept_caps_result(query, TRUE);
  return true;
}

}  // namespace cudatensor
