// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/uprightframes.h"

#include <algorithm>

#include "gst/library/frames/orientation.h"
#include "gst/util/log.h"

namespace cudatensor {
namespace {

bool has_only(const GstCapsFeatures *features, const char *wanted) {
  GstCapsFeatures *one = gst_caps_features_new(wanted, nullptr);
  const bool is_equal = gst_caps_features_is_equal(features, one);
  gst_caps_features_free(one);
  return is_equal;
}

bool is_subsampled(const GstVideoInfo &info) {
  return GST_VIDEO_INFO_IS_YUV(&info) && (GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, 1) > 0 ||
                                          GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, 1) > 0);
}

GstVideoChromaSite chroma_site_of(const GstStructure *s, const GstVideoInfo &info) {
  const gchar *given = gst_structure_get_string(s, "chroma-site");
  return given != nullptr ? gst_video_chroma_site_from_string(given) : info.chroma_site;
}

}  // namespace

// --------------------------------------------------------------------------------- given frames

void GivenFrames::set_turned(GstStructure *fields) {
  if (turned_ != nullptr) gst_structure_free(turned_);
  turned_ = fields;
}

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
  if (is_known) on_info_(info);
  return true;
}

bool GivenFrames::event(Ref<GstEvent> event) {
  if (GST_EVENT_TYPE(event.get()) != GST_EVENT_CAPS) return FrameStage::event(std::move(event));
  GstCaps *caps = nullptr;
  gst_event_parse_caps(event.get(), &caps);
  if (turned_ == nullptr) return take_caps(caps) && FrameStage::event(std::move(event));
  const Ref<GstCaps> turned(gst_caps_copy(caps));
  GstStructure *s = gst_caps_get_structure(turned.get(), 0);
  gst_structure_foreach(
      turned_,
      [](GQuark name, const GValue *value, gpointer to) -> gboolean {
        gst_structure_id_set_value(static_cast<GstStructure *>(to), name, value);
        return TRUE;
      },
      s);
  return take_caps(turned.get()) &&
         FrameStage::event(Ref<GstEvent>(gst_event_new_caps(turned.get())));
}

bool GivenFrames::query(GstQuery *query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ACCEPT_CAPS) return FrameStage::query(query);
  gst_query_set_accept_caps_result(query, TRUE);
  return true;
}

// ------------------------------------------------------------------------------------------- tags

/// Reads the orientation from a tag. Returns whether the tag has one. A tag of the stream wins over
/// one of the whole file.
bool UprightFrames::read_tags(GstEvent *event) {
  GstTagList *tags = nullptr;
  gst_event_parse_tag(event, &tags);
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
  if (!gst_video_orientation_from_tag(tags, &method)) return false;
  (gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_STREAM ? stream_ : global_) = method;
  return true;
}

bool UprightFrames::event(Ref<GstEvent> event) {
  switch (GST_EVENT_TYPE(event.get())) {
    case GST_EVENT_STREAM_START:
      stream_.reset();
      global_.reset();
      break;
    case GST_EVENT_TAG:
      if (read_tags(event.get()) && caps_ != nullptr && !arrange()) return false;
      break;
    case GST_EVENT_CAPS: {
      GstCaps *caps = nullptr;
      gst_event_parse_caps(event.get(), &caps);
      caps_.reset(gst_caps_ref(caps));
      if (!arrange()) return false;
      break;
    }
    default: break;
  }
  return FrameStage::event(std::move(event));
}

GstFlowReturn UprightFrames::chain(Ref<GstBuffer> buffer) {
  return has_failed_ ? GST_FLOW_NOT_NEGOTIATED : push(std::move(buffer));
}

/// Answers caps queries from GivenFrames, because the elements in between are made for the caps
/// that arrive and do not restrict them.
bool UprightFrames::query(GstQuery *query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS: return gst_pad_query(given_->sink(), query);
    case GST_QUERY_ACCEPT_CAPS: gst_query_set_accept_caps_result(query, TRUE); return true;
    case GST_QUERY_ALLOCATION: return elements_.empty() && FrameStage::query(query);
    default: return FrameStage::query(query);
  }
}

// ---------------------------------------------------------------------------------------- elements

/// Replaces the elements in between. Called by the streaming thread, so that nothing is under way
/// between this stage and the next one.
bool UprightFrames::arrange() {
  GstVideoInfo info;
  Turn turn;
  turn.method = method();
  const bool is_upright = turn.method == GST_VIDEO_ORIENTATION_IDENTITY;
  if (!is_upright && !gst_video_info_from_caps(&info, caps_.get()))
    return refuse(turn, "their format is unknown");
  if (!is_upright) {
    const GstCapsFeatures *features = gst_caps_get_features(caps_.get(), 0);
    turn.format = GST_VIDEO_INFO_FORMAT(&info);
    turn.is_in_cuda_memory = has_only(features, "memory:CUDAMemory");
    if (!turn.is_in_cuda_memory && !has_only(features, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY))
      return refuse(turn, "their memory is neither system memory nor CUDA memory");
  }
  tell_turned(turn.method);
  if (has_failed_ || turn != turn_) {
    remove_elements();
    if (!put_between(turn)) return false;
    turn_ = turn;
  }
  has_failed_ = false;
  return true;
}

/// Tells GivenFrames the colorimetry and the chroma site of turned frames, because their defaults
/// depend on the size of the stored picture.
void UprightFrames::tell_turned(GstVideoOrientationMethod method) {
  GstVideoInfo info;
  if (method == GST_VIDEO_ORIENTATION_IDENTITY || !gst_video_info_from_caps(&info, caps_.get()))
    return given_->set_turned(nullptr);
  GstStructure *fields = gst_structure_new_empty("turned");
  const GstStructure *s = gst_caps_get_structure(caps_.get(), 0);
  gchar *colors = gst_video_colorimetry_to_string(&info.colorimetry);
  if (colors != nullptr && !gst_structure_has_field(s, "colorimetry"))
    gst_structure_set(fields, "colorimetry", G_TYPE_STRING, colors, nullptr);
  g_free(colors);
  gchar *site =
      gst_video_chroma_site_to_string(turned_chroma_site(chroma_site_of(s, info), method));
  if (site != nullptr && is_subsampled(info))
    gst_structure_set(fields, "chroma-site", G_TYPE_STRING, site, nullptr);
  g_free(site);
  given_->set_turned(fields);
}

bool UprightFrames::refuse(const Turn &turn, const char *why) {
  has_failed_ = true;
  auto *type = static_cast<GEnumClass *>(g_type_class_ref(GST_TYPE_VIDEO_ORIENTATION_METHOD));
  const bool is_known = turn.format != GST_VIDEO_FORMAT_UNKNOWN;
  GST_ELEMENT_ERROR(element(), STREAM, FORMAT,
                    ("the pictures%s%s must be turned (%s), but cannot be: %s",
                     is_known ? " of the pixel format " : "",
                     is_known ? gst_video_format_to_string(turn.format) : "",
                     g_enum_get_value(type, turn.method)->value_nick, why),
                    (nullptr));
  g_type_class_unref(type);
  return false;
}

GstElement *UprightFrames::add(const char *factory) {
  GstElement *made = gst_element_factory_make(factory, nullptr);
  if (made == nullptr) {
    has_failed_ = true;
    GST_ELEMENT_ERROR(
        element(), CORE, MISSING_PLUGIN,
        ("the pictures are not stored upright, and there is no element %s to turn them", factory),
        (nullptr));
    return nullptr;
  }
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(made), "qos") != nullptr)
    g_object_set(made, "qos", FALSE, nullptr);
  const Ref<GstObject> bin(gst_object_get_parent(GST_OBJECT(element())));
  gst_bin_add(GST_BIN(bin.get()), made);
  elements_.push_back(made);
  return made;
}

/// Adds videoflip and what it needs. A format that videoflip does not know is converted to one with
/// the same samples.
bool UprightFrames::add_turners(const Turn &turn) {
  if (turn.is_in_cuda_memory && add("cudadownload") == nullptr) return false;
  GstElement *flip = add("videoflip");
  if (flip == nullptr) return false;
  const auto at = elements_.end() - 1 - elements_.begin();
  g_object_set(flip, "video-direction", turn.method, nullptr);
  const Ref<GstPad> sink(gst_element_get_static_pad(flip, "sink"));
  const Ref<GstCaps> formats(gst_pad_get_pad_template_caps(sink.get()));
  const GstVideoFormat format = find_same_samples(turn.format, formats.get());
  if (format == GST_VIDEO_FORMAT_UNKNOWN)
    return refuse(turn, "videoflip knows no format with the same samples");
  if (format == turn.format) return true;
  GstElement *convert = add("videoconvert");
  GstElement *filter = convert != nullptr ? add("capsfilter") : nullptr;
  if (filter == nullptr) return false;
  for (const char *name : {"dither", "chroma-mode", "matrix-mode"})
    gst_util_set_object_arg(G_OBJECT(convert), name, "none");
  const Ref<GstCaps> caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                                              gst_video_format_to_string(format), nullptr));
  g_object_set(filter, "caps", caps.get(), nullptr);
  std::rotate(elements_.begin() + at, elements_.begin() + at + 1, elements_.end());
  return true;
}

bool UprightFrames::put_between(const Turn &turn) {
  if (turn.method != GST_VIDEO_ORIENTATION_IDENTITY && !add_turners(turn)) return false;
  GstElement *last = element();
  bool is_linked = true;
  for (GstElement *each : elements_) {
    is_linked = is_linked && gst_element_link(last, each);
    last = each;
  }
  is_linked = is_linked && gst_element_link(last, given_->element());
  for (auto each = elements_.rbegin(); each != elements_.rend(); ++each)
    is_linked = is_linked && gst_element_sync_state_with_parent(*each);
  return is_linked || refuse(turn, "the elements that turn them cannot be started");
}

void UprightFrames::remove_elements() {
  const Ref<GstPad> next(gst_pad_get_peer(src()));
  if (next != nullptr) gst_pad_unlink(src(), next.get());
  const Ref<GstObject> bin(gst_object_get_parent(GST_OBJECT(element())));
  for (GstElement *each : elements_) {
    gst_element_set_locked_state(each, TRUE);
    gst_element_set_state(each, GST_STATE_NULL);
    gst_bin_remove(GST_BIN(bin.get()), each);
  }
  elements_.clear();
}

}  // namespace cudatensor
