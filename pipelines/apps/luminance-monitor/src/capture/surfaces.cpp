// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/surfaces.h"

#include <string>
#include <utility>

namespace luminance {
namespace {

/// Returns an element whose tensor has the unchanged luma of the surface as its first channel; null
/// if the plugin is missing.
GstElement *element_of(int width, int height) {
  const std::string text =
      "cudanormalize resize-mode=stretch method=nearest color=yuv dtype=uint8 layout=nchw width=" +
      std::to_string(width) + " height=" + std::to_string(height);
  GstElement *element = gst_parse_launch(text.c_str(), nullptr);
  return element != nullptr ? GST_ELEMENT(gst_object_ref_sink(element)) : nullptr;
}

GstPad *owned(GstPad *pad) { return GST_PAD(gst_object_ref_sink(pad)); }

void link(GstPad *pad, GstElement *element, const char *name) {
  g_autoptr(GstPad) other = gst_element_get_static_pad(element, name);
  if (GST_PAD_IS_SRC(pad))
    gst_pad_link(pad, other);
  else
    gst_pad_link(other, pad);
  gst_pad_set_active(pad, TRUE);
}

}  // namespace

bool is_in_surfaces(const GstCaps *caps, guint structure) {
  return gst_caps_features_contains(gst_caps_get_features(caps, structure), "memory:NVMM");
}

bool takes_surfaces(GstElement *histogram) {
  g_autoptr(GstPad) pad = gst_element_get_static_pad(histogram, "sink");
  g_autoptr(GstCaps) caps = gst_pad_query_caps(pad, nullptr);
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (is_in_surfaces(caps, i)) return true;
  return false;
}

SurfaceSampler::SurfaceSampler(int width, int height)
    : element_(element_of(width, height)), to_(owned(gst_pad_new("src", GST_PAD_SRC))) {
  gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_GRAY8, static_cast<guint>(width),
                            static_cast<guint>(height));
  g_autoptr(GstCaps) tensors = gst_caps_new_empty_simple("other/tensors");
  g_autoptr(GstPadTemplate) on_host =
      gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, tensors);
  gst_object_ref_sink(on_host);
  from_ = owned(gst_pad_new_from_template(on_host, "sink"));
  gst_pad_set_element_private(from_, this);
  gst_pad_set_chain_function(from_, on_result);
  if (element_ == nullptr) return;
  link(from_, element_, "src");
  link(to_, element_, "sink");
}

SurfaceSampler::~SurfaceSampler() {
  if (element_ != nullptr) {
    gst_element_set_state(element_, GST_STATE_NULL);
    gst_object_unref(element_);
  }
  for (GstPad *pad : {to_, from_}) {
    gst_pad_set_active(pad, FALSE);
    gst_object_unref(pad);
  }
  gst_clear_caps(&caps_);
  gst_clear_buffer(&result_);
}

GstFlowReturn SurfaceSampler::on_result(GstPad *pad, GstObject *, GstBuffer *buffer) {
  auto *self = static_cast<SurfaceSampler *>(gst_pad_get_element_private(pad));
  gst_buffer_replace(&self->result_, nullptr);
  self->result_ = buffer;
  return GST_FLOW_OK;
}

/// Prepares the element for frames with these caps.
void SurfaceSampler::start(GstCaps *caps) {
  if (caps_ == nullptr) {
    gst_element_set_state(element_, GST_STATE_PLAYING);
    gst_pad_push_event(to_, gst_event_new_stream_start("surfaces"));
  }
  gst_caps_replace(&caps_, caps);
  gst_pad_push_event(to_, gst_event_new_caps(caps));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(to_, gst_event_new_segment(&segment));
}

GstBuffer *SurfaceSampler::lumas(GstBuffer *frame, GstCaps *caps) {
  if (element_ == nullptr) return nullptr;
  if (caps_ == nullptr || !gst_caps_is_equal(caps_, caps)) start(caps);
  if (gst_pad_push(to_, gst_buffer_ref(frame)) != GST_FLOW_OK)
    gst_buffer_replace(&result_, nullptr);
  return std::exchange(result_, nullptr);
}

}  // namespace luminance
