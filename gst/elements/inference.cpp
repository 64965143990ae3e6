// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudainference
 * @title: cudainference
 * @see_also: cudanormalize, cudatensormux
 *
 * Runs a network in ONNX's format on tensors, by ONNX Runtime, which is opened when the element
 * starts. Its input is bound where it lies, and its outputs to buffers of a pool, so that nothing is
 * copied. The outputs are the memories of a buffer, with the network's own shapes in the caps; where
 * these depend on the data, the caps are format=flexible, and each memory begins with NNStreamer's
 * header.
 *
 * The caps of its sink pad are the network's input: cudanormalize and cudatensormux before it take
 * size, type and layout from it where they are not set.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! cudanormalize model-config=yolo11n.onnx ! cudainference model=yolo11n.onnx ! fakesink silent=false -v
 * ]|
 * Runs a detector of Ultralytics on a test picture.
 *
 * Since: 0.1
 */
#include "gst/base/elementcore.h"
#include "gst/base/metadata.h"
#include "gst/base/sessionmanager.h"
#include "gst/base/transformcaps.h"
#include "gst/caps/memorycaps.h"
#include "gst/caps/tensorcaps.h"
#include "gst/elements/elements.h"
#include "gst/elements/inferencer.h"
#include "gst/meta/copiedmetas.h"
#include "gst/meta/geometrymeta.h"

GST_DEBUG_CATEGORY_STATIC(cudainference_debug);

using cudatensor::inference_properties;
using cudatensor::Inferencer;
using cudatensor::ObjectLock;
using cudatensor::Ref;

struct GstCudaInference {
  GstBaseTransform parent;
  Inferencer *inferencer;
};
struct GstCudaInferenceClass {
  GstBaseTransformClass parent_class;
};
G_DEFINE_TYPE(GstCudaInference, gst_cuda_inference, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudainference, "cudainference", GST_RANK_NONE,
                            gst_cuda_inference_get_type())

namespace {

enum { kActiveProvider = 1, kFirstOwn };

Inferencer &inferencer_of(gpointer object) {
  return *static_cast<GstCudaInference *>(object)->inferencer;
}

GstBaseTransformClass *parent_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_inference_parent_class);
}

void set_property(GObject *object, guint id, const GValue *value, GParamSpec *) {
  const ObjectLock lock(object);
  inference_properties().set(inferencer_of(object).settings(), id - kFirstOwn, value);
}

void get_property(GObject *object, guint id, GValue *value, GParamSpec *) {
  const ObjectLock lock(object);
  if (id == kActiveProvider) return cudatensor::write(value, inferencer_of(object).active());
  inference_properties()[id - kFirstOwn].get(inferencer_of(object).settings(), value);
}

GstStateChangeReturn chain_up_change_state(GstElement *element, GstStateChange change) {
  return GST_ELEMENT_CLASS(gst_cuda_inference_parent_class)->change_state(element, change);
}

/// Activates the pads under the stream lock: GstBaseTransform resets its segment after it has
/// activated them, and upstream must not push data in between.
GstStateChangeReturn activate_pads(GstElement *element) {
  GstPad *sink = GST_BASE_TRANSFORM(element)->sinkpad;
  GST_PAD_STREAM_LOCK(sink);
  const auto result = chain_up_change_state(element, GST_STATE_CHANGE_READY_TO_PAUSED);
  GST_PAD_STREAM_UNLOCK(sink);
  return result;
}

GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
  Inferencer &inferencer = inferencer_of(element);
  const bool starts = change == GST_STATE_CHANGE_READY_TO_PAUSED;
  if (starts && !inferencer.start()) return GST_STATE_CHANGE_FAILURE;
  // The streaming thread may be within a run, for which the deactivation of the pads waits.
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) inferencer.terminate();
  const GstStateChangeReturn result =
      starts ? activate_pads(element) : chain_up_change_state(element, change);
  const bool failed = starts && result == GST_STATE_CHANGE_FAILURE;
  if (failed || change == GST_STATE_CHANGE_PAUSED_TO_READY) inferencer.stop();
  return result;
}

GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                        GstCaps *filter) {
  GstCaps *result = inferencer_of(trans).transform_caps(direction, caps);
  return cudatensor::restrict_caps(trans, direction, result, filter);
}

gboolean accept_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps) {
  if (direction == GST_PAD_SRC) return parent_class()->accept_caps(trans, direction, caps);
  return cudatensor::match_template(trans->sinkpad, caps, cudainference_debug) &&
         inferencer_of(trans).accepts(caps);
}

gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out) {
  return inferencer_of(trans).set_caps(in, out);
}

/// Answers a query of the caps of a pad. GstBaseTransform would put those of the other pad first, as
/// far as this pad can have them, but the outputs of a network are never its input.
gboolean answer_caps(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query) {
  const bool of_sink = direction == GST_PAD_SINK;
  GstPad *other = of_sink ? trans->srcpad : trans->sinkpad;
  GstCaps *filter = nullptr;
  gst_query_parse_caps(query, &filter);
  const Ref<GstCaps> peer(gst_pad_peer_query_caps(other, nullptr));
  const Ref<GstCaps> possible(gst_pad_get_pad_template_caps(other));
  const Ref<GstCaps> taken(
      gst_caps_intersect_full(peer.get(), possible.get(), GST_CAPS_INTERSECT_FIRST));
  const Ref<GstCaps> result(transform_caps(trans, GST_PAD_DIRECTION(other), taken.get(), filter));
  gst_query_set_caps_result(query, result.get());
  return TRUE;
}

gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) return answer_caps(trans, direction, query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      inferencer_of(trans).handle_context_query(query))
    return TRUE;
  return parent_class()->query(trans, direction, query);
}

gboolean propose_allocation(GstBaseTransform *trans, GstQuery *, GstQuery *query) {
  return inferencer_of(trans).propose_allocation(query);
}

gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query) {
  return inferencer_of(trans).decide_allocation(query);
}

GstFlowReturn prepare_output_buffer(GstBaseTransform *trans, GstBuffer *in, GstBuffer **out) {
  if (inferencer_of(trans).adds_memories()) {
    *out = gst_buffer_new();
    return parent_class()->copy_metadata(trans, in, *out) ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
  const GstFlowReturn flow = parent_class()->prepare_output_buffer(trans, in, out);
  if (flow == GST_FLOW_ERROR) inferencer_of(trans).post_allocation_error();
  return flow;
}

GstFlowReturn transform(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out) {
  return inferencer_of(trans).run(in, out);
}

gboolean transform_meta(GstBaseTransform *, GstBuffer *, GstMeta *meta, GstBuffer *) {
  const GType api = meta->info->api;
  return cudatensor::is_copied_meta(api) || api == cudatensor::geometry_meta_api();
}

void finalize(GObject *object) {
  delete static_cast<GstCudaInference *>(static_cast<gpointer>(object))->inferencer;
  G_OBJECT_CLASS(gst_cuda_inference_parent_class)->finalize(object);
}

/// Completes the object here: the inferencer notifies of properties, which an object that is not
/// yet constructed cannot.
void install_properties(GObjectClass *object) {
  object->set_property = set_property;
  object->get_property = get_property;
  constexpr auto readable = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      object, kActiveProvider,
      g_param_spec_enum("active-provider", "Active provider",
                        "Execution provider in use; auto while the element is stopped",
                        cudatensor::provider_get_type(),
                        static_cast<gint>(cudatensor::Provider::automatic), readable));
  inference_properties().install(object, kFirstOwn);
}

GstPadTemplate *new_template(const char *name, GstPadDirection direction, GstCaps *caps) {
  caps = cudatensor::with_memories(caps, {cudatensor::template_memories(direction).cuda, false});
  GstPadTemplate *made = gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps);
  gst_caps_unref(caps);
  return made;
}

void install_templates(GstElementClass *element) {
  GstCaps *sink = gst_caps_from_string(
      "other/tensors,format=(string)static,num_tensors=(int)1,types=(string){float32,float16,"
      "float64,uint8,int8,uint16,int16,uint32,int32,uint64,int64}");
  GstCaps *src = gst_caps_from_string("other/tensors,format=(string){static,flexible}");
  gst_element_class_add_pad_template(element, new_template("sink", GST_PAD_SINK, sink));
  gst_element_class_add_pad_template(element, new_template("src", GST_PAD_SRC, src));
}

}  // namespace

static void gst_cuda_inference_class_init(GstCudaInferenceClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudainference_debug, "cudainference", 0, "cudainference");
  install_properties(G_OBJECT_CLASS(klass));
  G_OBJECT_CLASS(klass)->finalize = finalize;
  auto *element = GST_ELEMENT_CLASS(klass);
  cudatensor::set_metadata(element,
                           {"cudainference", "CUDA inference", "Filter/Analyzer",
                            "Runs a network in ONNX's format on tensors, by ONNX Runtime"});
  install_templates(element);
  element->change_state = change_state;

  auto *trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->passthrough_on_same_caps = FALSE;
  trans->transform_caps = transform_caps;
  trans->accept_caps = accept_caps;
  trans->set_caps = set_caps;
  trans->query = query;
  trans->propose_allocation = propose_allocation;
  trans->decide_allocation = decide_allocation;
  trans->prepare_output_buffer = prepare_output_buffer;
  trans->transform = transform;
  trans->transform_meta = transform_meta;
}

static void gst_cuda_inference_init(GstCudaInference *self) {
  auto *trans = GST_BASE_TRANSFORM(self);
  self->inferencer = new Inferencer(trans, cudainference_debug);
  gst_base_transform_set_qos_enabled(trans, TRUE);
  gst_base_transform_set_gap_aware(trans, TRUE);
}
