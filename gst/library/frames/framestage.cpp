// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/framestage.h"

G_BEGIN_DECLS
struct GstCudaTensorFrameStage {
  GstElement parent;
  cudatensor::FrameStage *stage;
};
struct GstCudaTensorFrameStageClass {
  GstElementClass parent_class;
};
G_END_DECLS

static GType gst_cuda_tensor_frame_stage_get_type(void);
G_DEFINE_TYPE(GstCudaTensorFrameStage, gst_cuda_tensor_frame_stage, GST_TYPE_ELEMENT)

namespace {

cudatensor::FrameStage &stage_of(gpointer element) {
  return *static_cast<GstCudaTensorFrameStage *>(element)->stage;
}

GstFlowReturn chain(GstPad *, GstObject *parent, GstBuffer *buffer) {
  return stage_of(parent).chain(cudatensor::Ref<GstBuffer>(buffer));
}

gboolean sink_event(GstPad *, GstObject *parent, GstEvent *event) {
  return stage_of(parent).event(cudatensor::Ref<GstEvent>(event));
}

gboolean sink_query(GstPad *, GstObject *parent, GstQuery *query) {
  return stage_of(parent).query(query);
}

GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) stage_of(element).stop();
  return GST_ELEMENT_CLASS(gst_cuda_tensor_frame_stage_parent_class)->change_state(element, change);
}

void finalize(GObject *object) {
  delete &stage_of(object);
  G_OBJECT_CLASS(gst_cuda_tensor_frame_stage_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_tensor_frame_stage_class_init(GstCudaTensorFrameStageClass *klass) {
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  G_OBJECT_CLASS(klass)->finalize = finalize;
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Frame stage", "Filter",
                                        "A step of GstCudaTensorFrames", "gst-cudatensor");
}

static void gst_cuda_tensor_frame_stage_init(GstCudaTensorFrameStage *) {}

namespace cudatensor {

bool FrameStage::event(Ref<GstEvent> event) {
  return gst_pad_event_default(sink_, GST_OBJECT(element_), event.release());
}

bool FrameStage::query(GstQuery *query) {
  return gst_pad_query_default(sink_, GST_OBJECT(element_), query);
}

GstElement *make_stage(std::unique_ptr<FrameStage> stage) {
  auto *element = GST_ELEMENT(g_object_new(gst_cuda_tensor_frame_stage_get_type(), nullptr));
  stage->element_ = element;
  stage->sink_ = gst_pad_new("sink", GST_PAD_SINK);
  stage->src_ = gst_pad_new("src", GST_PAD_SRC);
  gst_pad_set_chain_function(stage->sink_, chain);
  gst_pad_set_event_function(stage->sink_, sink_event);
  gst_pad_set_query_function(stage->sink_, sink_query);
  GST_PAD_SET_PROXY_CAPS(stage->sink_);
  GST_PAD_SET_PROXY_ALLOCATION(stage->sink_);
  GST_PAD_SET_PROXY_CAPS(stage->src_);
  gst_element_add_pad(element, stage->sink_);
  gst_element_add_pad(element, stage->src_);
  reinterpret_cast<GstCudaTensorFrameStage *>(element)->stage = stage.release();
  return element;
}

bool is_stage(gpointer object) {
  return G_TYPE_CHECK_INSTANCE_TYPE(object, gst_cuda_tensor_frame_stage_get_type());
}

FrameStage *stage_of(GstElement *element) { return &::stage_of(element); }

}  // namespace cudatensor
