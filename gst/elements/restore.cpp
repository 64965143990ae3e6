// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudarestore
 * @title: cudarestore
 * @see_also: cudaletterbox
 *
 * Replaces each picture by the frame that cudaletterbox with keep-input=true made it from, without
 * a copy, and maps what was found in the picture to the frame: detections, segmentation masks,
 * other analytics results and regions of interest. Behind a network, it replaces the tensors. Its
 * caps are those of the frames.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,width=1280,height=720 ! cudaletterbox keep-input=true ! video/x-raw,format=RGB,width=640,height=640 ! identity ! cudarestore ! videoconvert ! autovideosink
 * ]|
 * Shows pictures of 1280×720 again. In place of identity there may be a detector: an element that
 * passes pictures on and attaches what it has found in them.
 *
 * Since: 0.1
 */
#include "gst/base/metadata.h"
#include "gst/elements/elements.h"
#include "gst/elements/restorer.h"

using cudatensor::Ref;
using cudatensor::Restorer;

struct GstCudaRestore {
  GstElement parent;
  GstPad *src;
  Restorer *restorer;
};
struct GstCudaRestoreClass {
  GstElementClass parent_class;
};
G_DEFINE_TYPE(GstCudaRestore, gst_cuda_restore, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(cudarestore, "cudarestore", GST_RANK_NONE, gst_cuda_restore_get_type())

namespace {

GstCudaRestore *self_of(gpointer object) { return static_cast<GstCudaRestore *>(object); }

GstFlowReturn chain(GstPad *, GstObject *parent, GstBuffer *buffer) {
  return self_of(parent)->restorer->push(buffer);
}

/// Only serialized events belong to the restorer, which the streaming thread uses; other threads
/// may send the others.
gboolean sink_event(GstPad *, GstObject *parent, GstEvent *event) {
  if (!GST_EVENT_IS_SERIALIZED(event)) return gst_pad_push_event(self_of(parent)->src, event);
  return self_of(parent)->restorer->handle(event);
}

gboolean answer_caps(GstPad *pad, GstQuery *query) {
  GstCaps *filter = nullptr;
  gst_query_parse_caps(query, &filter);
  GstCaps *caps = gst_pad_get_current_caps(pad);
  if (caps == nullptr || GST_PAD_IS_SINK(pad)) {
    gst_clear_caps(&caps);
    caps = gst_pad_get_pad_template_caps(pad);
  }
  const Ref<GstCaps> own(caps);
  const Ref<GstCaps> result(
      filter != nullptr ? gst_caps_intersect_full(filter, own.get(), GST_CAPS_INTERSECT_FIRST)
                        : gst_caps_ref(own.get()));
  gst_query_set_caps_result(query, result.get());
  return TRUE;
}

/// Answers queries of caps and allocation itself, because caps and memory of one side do not depend
/// on those of the other.
gboolean query(GstPad *pad, GstObject *parent, GstQuery *query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS: return answer_caps(pad, query);
    case GST_QUERY_ALLOCATION: return FALSE;
    default: return gst_pad_query_default(pad, parent, query);
  }
}

GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
  const auto result =
      GST_ELEMENT_CLASS(gst_cuda_restore_parent_class)->change_state(element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) self_of(element)->restorer->reset();
  return result;
}

void finalize(GObject *object) {
  delete self_of(object)->restorer;
  G_OBJECT_CLASS(gst_cuda_restore_parent_class)->finalize(object);
}

void add_template(GstElementClass *klass, const char *name, GstPadDirection direction,
                  const char *text) {
  const Ref<GstCaps> caps(gst_caps_from_string(text));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get()));
}

GstPad *add_pad(GstElement *element, const char *name) {
  GstPadTemplate *shape = gst_element_get_pad_template(element, name);
  GstPad *pad = gst_pad_new_from_template(shape, name);
  gst_pad_set_query_function(pad, query);
  gst_element_add_pad(element, pad);
  return pad;
}

}  // namespace

static void gst_cuda_restore_class_init(GstCudaRestoreClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  auto *element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  add_template(element, "sink", GST_PAD_SINK, "video/x-raw(ANY); other/tensors(ANY)");
  add_template(element, "src", GST_PAD_SRC, "video/x-raw(ANY)");
  cudatensor::set_metadata(element,
                           {"cudarestore", "CUDA restore", "Filter/Video",
                            "Replaces pictures and tensors by the frames that cudaletterbox "
                            "kept, and maps detections to them"});
}

static void gst_cuda_restore_init(GstCudaRestore *self) {
  auto *element = GST_ELEMENT(self);
  GstPad *sink = add_pad(element, "sink");
  gst_pad_set_chain_function(sink, chain);
  gst_pad_set_event_function(sink, sink_event);
  self->src = add_pad(element, "src");
  self->restorer = new Restorer(element, self->src);
}
