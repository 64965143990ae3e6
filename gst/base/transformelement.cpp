// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/transformelement.h"

#include <optional>
#include <utility>

#include "gst/base/transformcaps.h"
#include "gst/caps/memorycaps.h"
#include "gst/caps/videocaps.h"
#include "gst/meta/copiedmetas.h"
#include "gst/util/faultyframes.h"
#include "gst/util/ref.h"
#include "gst/util/values.h"

using cudatensor::ElementCore;
using cudatensor::Error;
using cudatensor::Session;
using cudatensor::SessionManager;
using cudatensor::TransformElement;

struct GstCudaTensorTransformPrivate {
  std::unique_ptr<TransformElement> transform;
  std::unique_ptr<cudatensor::ElementCore> core;  // destroyed before the transform

  // Used only by the streaming thread.
  bool negotiated = false;
  bool prepared = false;
  bool in_nvmm = false;          // whether the input is NVMM
  std::optional<Error> refusal;  // the error of the current negotiation
  std::string posted_error;      // the last error posted; cleared when negotiation succeeds
  cudatensor::FaultyFrames faulty_frames;

  std::atomic<GThread *> streaming{nullptr};
};

G_DEFINE_ABSTRACT_TYPE(GstCudaTensorTransform, gst_cuda_tensor_transform, GST_TYPE_BASE_TRANSFORM)

namespace {

GstCudaTensorTransformPrivate *priv_of(gpointer instance) {
  return static_cast<GstCudaTensorTransform *>(instance)->priv;
}

GstDebugCategory *category_of(GstBaseTransform *trans) {
  return reinterpret_cast<GstCudaTensorTransformClass *>(G_OBJECT_GET_CLASS(trans))->category;
}

GstBaseTransformClass *parent_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_tensor_transform_parent_class);
}

/// Returns whether the element passes every buffer through unchanged.
bool is_analyzer(GstBaseTransform *trans) {
  return GST_BASE_TRANSFORM_GET_CLASS(trans)->transform == nullptr;
}

/// Marks this thread as the streaming thread, which sees the latched settings.
class StreamingScope {
 public:
  explicit StreamingScope(GstCudaTensorTransformPrivate *priv) : priv_(priv) {
    priv_->streaming = g_thread_self();
  }
  ~StreamingScope() { priv_->streaming = nullptr; }

 private:
  GstCudaTensorTransformPrivate *priv_;
};

void latch(GstBaseTransform *trans) {
  const auto changes = priv_of(trans)->core->latch();
  if (changes.any) {
    priv_of(trans)->prepared = false;
    priv_of(trans)->faulty_frames.end_run();
  }
  if (!changes.renegotiate) return;
  priv_of(trans)->transform->before_change();
  gst_base_transform_reconfigure_src(trans);
}

// --- the session --------------------------------------------------------------------------------

bool start(GstBaseTransform *trans) {
  priv_of(trans)->posted_error.clear();
  priv_of(trans)->faulty_frames.begin();
  return priv_of(trans)->core->start();
}

void stop(GstBaseTransform *trans) {
  GstCudaTensorTransformPrivate *priv = priv_of(trans);
  priv->transform->stop();
  priv->negotiated = false;
  priv->core->session_manager().stop();
}

GstStateChangeReturn chain_up_change_state(GstElement *element, GstStateChange change) {
  return GST_ELEMENT_CLASS(gst_cuda_tensor_transform_parent_class)->change_state(element, change);
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

/// Starts before the parent class activates the pads, and stops after it has deactivated them.
/// GstBaseTransform's start() is unsuitable because frames may already arrive when it is called.
GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
  auto *trans = GST_BASE_TRANSFORM(element);
  const bool starts = change == GST_STATE_CHANGE_READY_TO_PAUSED;
  if (starts && !start(trans)) return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result =
      starts ? activate_pads(element) : chain_up_change_state(element, change);
  const bool failed = starts && result == GST_STATE_CHANGE_FAILURE;
  if (failed || change == GST_STATE_CHANGE_PAUSED_TO_READY) stop(trans);
  return result;
}

void set_context(GstElement *element, GstContext *context) {
  priv_of(element)->core->session_manager().set_context(context);
  GST_ELEMENT_CLASS(gst_cuda_tensor_transform_parent_class)->set_context(element, context);
}

void ensure_prepared(GstBaseTransform *trans, Session &session) {
  GstCudaTensorTransformPrivate *priv = priv_of(trans);
  if (priv->prepared) return;
  priv->transform->prepare(session.backend());
  priv->prepared = true;
}

// --- negotiation -------------------------------------------------------------------------------

/// Calls `body`. If it throws, logs the cause, stores it if this is the streaming thread, and
/// returns false.
template <class Body>
bool negotiate(GstBaseTransform *trans, const Body &body) {
  const auto refusal =
      cudatensor::negotiation_error_of(GST_ELEMENT(trans), category_of(trans), body);
  GstCudaTensorTransformPrivate *priv = priv_of(trans);
  if (refusal && priv->streaming == g_thread_self()) priv->refusal = refusal;
  return !refusal;
}

/// Called after each negotiation on the streaming thread. If it failed, posts the cause, but only
/// once in a row. Downstream elements report their own errors.
void finish_negotiation(GstBaseTransform *trans, bool negotiated, GstCaps *in) {
  GstCudaTensorTransformPrivate *priv = priv_of(trans);
  const auto refusal = std::exchange(priv->refusal, std::nullopt);
  if (negotiated) return priv->posted_error.clear();
  if (GST_PAD_IS_FLUSHING(trans->srcpad) || in == nullptr) return;
  const Error error =
      refusal ? *refusal
              : Error(Error::Code::settings,
                      cudatensor::mismatch_of(trans, in, priv->transform->caps_settings()));
  if (*error.what() == '\0' || priv->posted_error == error.what()) return;
  priv->posted_error = error.what();
  priv->core->errors().report(Error(error.code(), "not negotiated: " + priv->posted_error));
}

gboolean accept_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps) {
  if (direction == GST_PAD_SRC) return parent_class()->accept_caps(trans, direction, caps);
  return cudatensor::match_template(trans->sinkpad, caps, category_of(trans));
}

GstCaps *convert_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps) {
  TransformElement &transform = *priv_of(trans)->transform;
  if (is_analyzer(trans)) return transform.transform_caps(direction, caps);
  const cudatensor::Ref<GstCaps> plain(cudatensor::without_features(caps));
  GstCaps *result = transform.transform_caps(direction, plain.get());
  const GstPadDirection other = direction == GST_PAD_SINK ? GST_PAD_SRC : GST_PAD_SINK;
  return cudatensor::with_memories(result, priv_of(trans)->core->session_manager().memories(other));
}

GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                        GstCaps *filter) {
  GstCaps *result = nullptr;
  const bool possible = negotiate(trans, [&] { result = convert_caps(trans, direction, caps); });
  if (!possible) return gst_caps_new_empty();
  result = cudatensor::restrict_caps(trans, direction, result, filter);
  GST_CAT_DEBUG_OBJECT(category_of(trans), trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT,
                       caps, result);
  return result;
}

GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                     GstCaps *othercaps) {
  GstCaps *result = nullptr;
  const bool possible = negotiate(trans, [&] {
    result = priv_of(trans)->transform->fixate_caps(direction, caps, gst_caps_ref(othercaps));
  });
  gst_caps_unref(othercaps);
  return possible ? result : gst_caps_new_empty();
}

gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out) {
  GstCudaTensorTransformPrivate *priv = priv_of(trans);
  // Downstream may have asked for other caps; an open output must be completed first.
  priv->transform->before_change();
  if (!negotiate(trans, [&] { priv->transform->set_caps(in, out); })) return FALSE;
  priv->prepared = false;
  priv->in_nvmm = cudatensor::in_nvmm(in);
  priv->faulty_frames.begin();
  priv->core->session_manager().allow_stream_change();
  const std::string warning = priv->transform->caps_warning();
  if (!warning.empty()) priv->core->errors().warn(warning);
  return TRUE;
}

gboolean transform_size(GstBaseTransform *trans, GstPadDirection direction, GstCaps *, gsize,
                        GstCaps *, gsize *othersize) {
  const TransformElement &transform = *priv_of(trans)->transform;
  *othersize = direction == GST_PAD_SINK ? transform.output_size() : transform.input_size();
  return TRUE;
}

/// Answers a caps query of an analyzer, whose caps are those of its neighbors.
gboolean query_analyzer_caps(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query) {
  if (!parent_class()->query(trans, direction, query)) return FALSE;
  if (priv_of(trans)->core->session_manager().memories(GST_PAD_SINK).nvmm) return TRUE;
  GstCaps *caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  const cudatensor::Ref<GstCaps> offered(cudatensor::without_nvmm(gst_caps_copy(caps)));
  gst_query_set_caps_result(query, offered.get());
  return TRUE;
}

gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      priv_of(trans)->core->session_manager().handle_context_query(query))
    return TRUE;
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE(query) == GST_QUERY_DRAIN)
    priv_of(trans)->core->drain();
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS && is_analyzer(trans))
    return query_analyzer_caps(trans, direction, query);
  // GstBaseTransform may negotiate before it answers an allocation query.
  if (direction != GST_PAD_SINK || GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return parent_class()->query(trans, direction, query);
  StreamingScope scope(priv_of(trans));
  latch(trans);
  return parent_class()->query(trans, direction, query);
}

gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query) {
  // In passthrough mode downstream answers the query.
  if (decide_query == nullptr)
    return parent_class()->propose_allocation(trans, decide_query, query);
  return priv_of(trans)->core->propose_allocation(query, priv_of(trans)->transform->input_size());
}

gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query) {
  const TransformElement &transform = *priv_of(trans)->transform;
  return priv_of(trans)->core->decide_allocation(query, transform.output_size(),
                                                 transform.held_outputs());
}

// --- frames ------------------------------------------------------------------------------------

void before_transform(GstBaseTransform *trans, GstBuffer *buffer) {
  const GstClockTime stream_time =
      trans->segment.format != GST_FORMAT_TIME
          ? GST_CLOCK_TIME_NONE
          : gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(stream_time)) gst_object_sync_values(GST_OBJECT(trans), stream_time);
}

GstFlowReturn submit_input_buffer(GstBaseTransform *trans, gboolean is_discont, GstBuffer *input) {
  StreamingScope scope(priv_of(trans));
  if (!priv_of(trans)->negotiated) {
    gst_buffer_unref(input);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  // Reported here and not in the handler of CAPS events, because GstPad repeats an event that
  // failed before the next buffer.
  ElementCore &core = *priv_of(trans)->core;
  core.errors().next_frame();
  latch(trans);
  const auto follow = [&] {
    SessionManager &manager = core.session_manager();
    const auto before_move = [trans] { priv_of(trans)->transform->before_change(); };
    const bool moved = priv_of(trans)->in_nvmm ? manager.follow_surfaces(input, before_move)
                                               : manager.follow(input, before_move);
    if (moved && !is_analyzer(trans)) gst_base_transform_reconfigure_src(trans);
  };
  // Ignores a fault of the frame here: process() meets it again and reports it.
  const bool followed = core.errors().guard([&] { cudatensor::frame_fault_of(follow); });
  if (!followed) {
    gst_buffer_unref(input);
    return GST_FLOW_ERROR;
  }
  const GstFlowReturn flow = parent_class()->submit_input_buffer(trans, is_discont, input);
  const bool negotiated = flow != GST_FLOW_NOT_NEGOTIATED;
  const cudatensor::Ref<GstCaps> in(negotiated ? nullptr
                                               : gst_pad_get_current_caps(trans->sinkpad));
  finish_negotiation(trans, negotiated, in.get());
  return flow;
}

/// Returns whether the element must report a failed allocation itself. An active pool reports no
/// cause; if a pool cannot be activated, GstBaseTransform posts the error.
bool must_report_pool_failure(GstBaseTransform *trans) {
  GstBufferPool *pool = gst_base_transform_get_buffer_pool(trans);
  const bool silent = pool == nullptr || gst_buffer_pool_is_active(pool);
  gst_clear_object(&pool);
  return silent;
}

void post_allocation_error(GstBaseTransform *trans) {
  GstAllocator *allocator = nullptr;
  gst_base_transform_get_allocator(trans, &allocator, nullptr);
  priv_of(trans)->core->post_allocation_error(priv_of(trans)->transform->output_size(), allocator);
}

GstFlowReturn prepare_output_buffer(GstBaseTransform *trans, GstBuffer *in, GstBuffer **out) {
  const GstFlowReturn flow = parent_class()->prepare_output_buffer(trans, in, out);
  const bool failed = flow == GST_FLOW_ERROR || (flow == GST_FLOW_OK && *out == nullptr);
  if (!failed) return flow;
  if (must_report_pool_failure(trans)) post_allocation_error(trans);
  return GST_FLOW_ERROR;
}

/// Continues after a frame that cannot be used, as GstVideoFilter does, but outputs nothing for
/// that frame.
GstFlowReturn process(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out) {
  GstCudaTensorTransformPrivate *priv = priv_of(trans);
  StreamingScope scope(priv);
  std::optional<Error> fault;
  const bool done = priv->core->with_session([&](Session &session) {
    ensure_prepared(trans, session);
    fault = cudatensor::frame_fault_of([&] { priv->transform->process(session, in, out); });
  });
  if (!done) return GST_FLOW_ERROR;
  const bool passed_on = is_analyzer(trans);
  if (fault)
    priv->faulty_frames.add(priv->core->errors(), std::string(passed_on ? priv->transform->undone()
                                                                        : "a frame is dropped") +
                                                      ": " + fault->what());
  priv->faulty_frames.end_frame();
  return fault && !passed_on ? GST_BASE_TRANSFORM_FLOW_DROPPED : GST_FLOW_OK;
}

GstFlowReturn look_at(GstBaseTransform *trans, GstBuffer *buffer) {
  return process(trans, buffer, nullptr);
}

gboolean transform_meta(GstBaseTransform *, GstBuffer *, GstMeta *meta, GstBuffer *) {
  return cudatensor::is_copied_meta(meta->info->api);
}

gboolean sink_event(GstBaseTransform *trans, GstEvent *event) {
  GstCudaTensorTransformPrivate *priv = priv_of(trans);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return parent_class()->sink_event(trans, priv->transform->take_event(event));
  StreamingScope scope(priv);
  latch(trans);
  GstCaps *in = nullptr;
  gst_event_parse_caps(event, &in);
  const cudatensor::Ref<GstCaps> kept(gst_caps_ref(in));
  priv->negotiated = parent_class()->sink_event(trans, event);
  finish_negotiation(trans, priv->negotiated, in);
  return priv->negotiated;
}

// --- GObject -----------------------------------------------------------------------------------

void set_property(GObject *object, guint id, const GValue *value, GParamSpec *) {
  priv_of(object)->core->set_property(id, value);
}

void get_property(GObject *object, guint id, GValue *value, GParamSpec *) {
  priv_of(object)->core->get_property(id, value);
}

/// Completes the object here because in the instance init function it still has the class of an
/// ancestor.
void constructed(GObject *object) {
  auto *klass = reinterpret_cast<GstCudaTensorTransformClass *>(G_OBJECT_GET_CLASS(object));
  auto *trans = GST_BASE_TRANSFORM(object);
  GstCudaTensorTransformPrivate *priv = priv_of(object);
  priv->transform.reset(klass->create(trans));
  const auto release = [priv] {
    priv->transform->release();
    priv->prepared = false;
  };
  priv->core = std::make_unique<ElementCore>(GST_ELEMENT(object), klass->category, *priv->transform,
                                             release);
  gst_base_transform_set_qos_enabled(trans, TRUE);
  // The output made from a GAP buffer is itself a GAP buffer.
  gst_base_transform_set_gap_aware(trans, TRUE);
  gst_base_transform_set_passthrough(trans, klass->parent_class.transform == nullptr);
  G_OBJECT_CLASS(gst_cuda_tensor_transform_parent_class)->constructed(object);
}

void finalize(GObject *object) {
  delete priv_of(object);
  G_OBJECT_CLASS(gst_cuda_tensor_transform_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_tensor_transform_class_init(GstCudaTensorTransformClass *klass) {
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->constructed = constructed;
  object->finalize = finalize;
  cudatensor::install_backend_properties(object);

  GST_ELEMENT_CLASS(klass)->set_context = set_context;
  GST_ELEMENT_CLASS(klass)->change_state = change_state;

  auto *trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->passthrough_on_same_caps = FALSE;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  trans->accept_caps = accept_caps;
  trans->set_caps = set_caps;
  trans->transform_size = transform_size;
  trans->query = query;
  trans->propose_allocation = propose_allocation;
  trans->decide_allocation = decide_allocation;
  trans->before_transform = before_transform;
  trans->submit_input_buffer = submit_input_buffer;
  trans->prepare_output_buffer = prepare_output_buffer;
  trans->transform_meta = transform_meta;
  trans->sink_event = sink_event;
  gst_type_mark_as_plugin_api(GST_TYPE_CUDA_TENSOR_TRANSFORM, static_cast<GstPluginAPIFlags>(0));
}

static void gst_cuda_tensor_transform_init(GstCudaTensorTransform *self) {
  self->priv = new GstCudaTensorTransformPrivate;
}

namespace cudatensor {

TransformElement &transform_of(GstBaseTransform *element) { return *priv_of(element)->transform; }
ElementCore &core_of(GstBaseTransform *element) { return *priv_of(element)->core; }

GstFlowReturn allocate_output(GstBaseTransform *element, GstBuffer *like, GstBuffer **out) {
  return prepare_output_buffer(element, like, out);
}

void TransformElement::warn_of_frame(const std::string &text) const {
  priv_of(element_)->faulty_frames.add(priv_of(element_)->core->errors(), text);
}

void TransformElement::report(const Error &error) const {
  priv_of(element_)->core->errors().report_fatal(error);
}

bool TransformElement::is_streaming() const {
  return priv_of(element_)->streaming == g_thread_self();
}

namespace {

void install(GstCudaTensorTransformClass *klass, GstDebugCategory *category, GstCaps *sink,
             GstCaps *src, TransformElement *(*create)(GstBaseTransform *)) {
  auto *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src));
  gst_caps_unref(sink);
  gst_caps_unref(src);
  klass->create = create;
  klass->category = category;
  // GObject does not inherit these two functions.
  G_OBJECT_CLASS(klass)->set_property = set_property;
  G_OBJECT_CLASS(klass)->get_property = get_property;
}

}  // namespace

void install_transform(GstCudaTensorTransformClass *klass, GstDebugCategory *category,
                       GstCaps *sink, GstCaps *src,
                       TransformElement *(*create)(GstBaseTransform *)) {
  sink = with_memories(sink, template_memories(GST_PAD_SINK));
  src = with_memories(src, template_memories(GST_PAD_SRC));
  install(klass, category, sink, src, create);
  GST_BASE_TRANSFORM_CLASS(klass)->transform = process;
}

void install_analyzer(GstCudaTensorTransformClass *klass, GstDebugCategory *category, GstCaps *caps,
                      TransformElement *(*create)(GstBaseTransform *)) {
  caps = with_memories(caps, template_memories(GST_PAD_SINK));
  install(klass, category, gst_caps_ref(caps), caps, create);
  GST_BASE_TRANSFORM_CLASS(klass)->transform_ip = look_at;
}

}  // namespace cudatensor
