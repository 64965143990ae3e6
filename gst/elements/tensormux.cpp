// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudatensormux
 * @title: cudatensormux
 * @see_also: cudanormalize
 *
 * Combines the pictures of several cameras into one batch for a network, in one pass. It processes
 * each picture as cudanormalize does; the cameras may differ in size, format, color and frame rate.
 * A batch has one slot per camera, and a GstCudaTensorBatchMeta describes the contents of each
 * slot. If a camera delivers no picture in time, its slot is filled with the pad value and marked
 * invalid, so that no camera delays the others by more than the latency.
 *
 * Pads can be added and removed in the PLAYING state. A pad whose number is less than the batch
 * size is assigned the slot of that number. A batch waits only for pads that exist. decodebin links
 * its pads late, so use `decodebin ! queue ! mux.` to have its frames in the first batches.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 cudatensormux name=mux width=640 height=640 resize-mode=ultralytics ! fakesink silent=false -v videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=1280,height=720 ! mux. videotestsrc pattern=ball num-buffers=60 ! video/x-raw,format=RGB,width=640,height=480 ! mux.
 * ]|
 * Produces batches of two letterboxed pictures with dimensions 640:640:3:2.
 *
 * Since: 0.1
 */
#include <cstring>

#include "gst/base/metadata.h"
#include "gst/caps/memorycaps.h"
#include "gst/caps/videocaps.h"
#include "gst/elements/elements.h"
#include "gst/elements/tensormuxer.h"
#include "gst/util/ref.h"

GST_DEBUG_CATEGORY_STATIC(cudatensormux_debug);
#define GST_CAT_DEFAULT cudatensormux_debug

struct GstCudaTensorMux {
  GstAggregator parent;
  cudatensor::TensorMuxer *muxer;
};
struct GstCudaTensorMuxClass {
  GstAggregatorClass parent_class;
};
static void gst_cuda_tensor_mux_child_proxy_init(gpointer interface, gpointer);
G_DEFINE_TYPE_WITH_CODE(GstCudaTensorMux, gst_cuda_tensor_mux, GST_TYPE_AGGREGATOR,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_CHILD_PROXY,
                                              gst_cuda_tensor_mux_child_proxy_init))
GST_ELEMENT_REGISTER_DEFINE(cudatensormux, "cudatensormux", GST_RANK_NONE,
                            gst_cuda_tensor_mux_get_type())

namespace cudatensor {
namespace {

TensorMuxer &muxer_of(gpointer element) { return *static_cast<GstCudaTensorMux *>(element)->muxer; }

GstAggregatorPad *create_new_pad(GstAggregator *aggregator, GstPadTemplate *templ,
                                 const gchar *name, const GstCaps *caps) {
  if (!locked(aggregator, [&] { return muxer_of(aggregator).has_free_slot(); })) {
    GST_WARNING_OBJECT(aggregator, "cannot add a sink pad: all slots of batch-size are in use");
    return nullptr;
  }
  GstAggregatorPad *pad = GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)
                              ->create_new_pad(aggregator, templ, name, caps);
  if (pad != nullptr)
    camera_of(pad).index =
        static_cast<int>(g_ascii_strtoull(GST_PAD_NAME(pad) + strlen("sink_"), nullptr, 10));
  return pad;
}

// The sink pads are the children of the mux, so that a launch line can set their properties.

guint count_children(GstChildProxy *proxy) {
  return locked(proxy, [&] { return GST_ELEMENT(proxy)->numsinkpads; });
}

GObject *find_child(GstChildProxy *proxy, guint index) {
  const ObjectLock lock(proxy);
  gpointer pad = g_list_nth_data(GST_ELEMENT(proxy)->sinkpads, index);
  return pad != nullptr ? G_OBJECT(gst_object_ref(pad)) : nullptr;
}

GstPad *request_new_pad(GstElement *element, GstPadTemplate *templ, const gchar *name,
                        const GstCaps *caps) {
  GstPad *pad = GST_ELEMENT_CLASS(gst_cuda_tensor_mux_parent_class)
                    ->request_new_pad(element, templ, name, caps);
  if (pad != nullptr)
    gst_child_proxy_child_added(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
  return pad;
}

void release_pad(GstElement *element, GstPad *pad) {
  gst_child_proxy_child_removed(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
  GST_ELEMENT_CLASS(gst_cuda_tensor_mux_parent_class)->release_pad(element, pad);
}

gboolean sink_event(GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps *caps = nullptr;
    gst_event_parse_caps(event, &caps);
    const bool taken = muxer_of(aggregator).set_caps(pad, caps);
    gst_event_unref(event);
    return taken;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START)
    muxer_of(aggregator).set_stream_id(pad, event);
  muxer_of(aggregator).follow_direction(pad, event);
  return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)->sink_event(aggregator, pad, event);
}

gboolean accept_caps(GstAggregatorPad *pad, GstQuery *query) {
  GstCaps *caps = nullptr;
  gst_query_parse_accept_caps(query, &caps);
  gst_query_set_accept_caps_result(query, match_template(GST_PAD(pad), caps, cudatensormux_debug));
  return TRUE;
}

gboolean sink_query(GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      muxer_of(aggregator).core().session_manager().handle_context_query(query))
    return TRUE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) return accept_caps(pad, query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) muxer_of(aggregator).core().drain();
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS)
    return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)
        ->sink_query(aggregator, pad, query);
  GstCaps *filter = nullptr;
  gst_query_parse_caps(query, &filter);
  const Ref<GstCaps> caps(muxer_of(aggregator).sink_caps(filter));
  gst_query_set_caps_result(query, caps.get());
  return TRUE;
}

/// Up to 1.22.8, GstAggregator lets upstream free a query that is still being handled if its pad is
/// flushed or released. With those versions no pool is offered, and none is drained.
bool has_safe_queries() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return minor > 22 || (minor == 22 && micro >= 9);
}

gboolean sink_query_pre_queue(GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query) {
  const GstQueryType type = GST_QUERY_TYPE(query);
  const bool takes_long = type == GST_QUERY_ALLOCATION || type == GST_QUERY_DRAIN;
  if (takes_long && !has_safe_queries()) return FALSE;
  return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)
      ->sink_query_pre_queue(aggregator, pad, query);
}

gboolean src_query(GstAggregator *aggregator, GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      muxer_of(aggregator).core().session_manager().handle_context_query(query))
    return TRUE;
  return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)->src_query(aggregator, query);
}

gboolean src_event(GstAggregator *aggregator, GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) muxer_of(aggregator).handle_qos(event);
  return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)->src_event(aggregator, event);
}

void set_context(GstElement *element, GstContext *context) {
  muxer_of(element).core().session_manager().set_context(context);
  GST_ELEMENT_CLASS(gst_cuda_tensor_mux_parent_class)->set_context(element, context);
}

void set_property(GObject *object, guint id, const GValue *value, GParamSpec *) {
  muxer_of(object).core().set_property(id, value);
}

void get_property(GObject *object, guint id, GValue *value, GParamSpec *) {
  muxer_of(object).core().get_property(id, value);
}

void finalize_mux(GObject *object) {
  delete &muxer_of(object);
  G_OBJECT_CLASS(gst_cuda_tensor_mux_parent_class)->finalize(object);
}

void add_pad_templates(GstElementClass *klass) {
  GstCaps *sink = make_video_template_caps(input_formats());
  GstCaps *src = make_tensor_template_caps(
      {DType::float32, DType::float16, DType::bfloat16, DType::uint8, DType::int8});
  sink = with_memories(sink, template_memories(GST_PAD_SINK));
  src = with_memories(src, template_memories(GST_PAD_SRC));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new_with_gtype("sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, sink,
                                             gst_cuda_tensor_mux_pad_get_type()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new_with_gtype("src", GST_PAD_SRC, GST_PAD_ALWAYS, src,
                                             GST_TYPE_AGGREGATOR_PAD));
  gst_caps_unref(sink);
  gst_caps_unref(src);
}

void set_aggregator_functions(GstAggregatorClass *klass) {
  klass->create_new_pad = create_new_pad;
  klass->clip = clip_to_segment;
  klass->sink_event = sink_event;
  klass->sink_query = sink_query;
  klass->sink_query_pre_queue = sink_query_pre_queue;
  klass->src_query = src_query;
  klass->src_event = src_event;
  klass->start = [](GstAggregator *a) -> gboolean { return muxer_of(a).start(); };
  klass->stop = [](GstAggregator *a) -> gboolean {
    muxer_of(a).stop();
    return TRUE;
  };
  klass->flush = [](GstAggregator *a) {
    muxer_of(a).flush();
    return GST_FLOW_OK;
  };
  klass->get_next_time = [](GstAggregator *a) { return muxer_of(a).next_time(); };
  klass->aggregate = [](GstAggregator *a, gboolean timeout) {
    return muxer_of(a).aggregate(timeout);
  };
  klass->negotiate = [](GstAggregator *a) -> gboolean {
    const auto *parent = GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class);
    return muxer_of(a).finish_negotiation(parent->negotiate(a) != FALSE);
  };
  klass->update_src_caps = [](GstAggregator *a, GstCaps *downstream, GstCaps **result) {
    return muxer_of(a).update_src_caps(downstream, result);
  };
  klass->negotiated_src_caps = [](GstAggregator *a, GstCaps *caps) -> gboolean {
    return muxer_of(a).set_src_caps(caps);
  };
  klass->propose_allocation = [](GstAggregator *a, GstAggregatorPad *pad, GstQuery *,
                                 GstQuery *query) -> gboolean {
    return muxer_of(a).propose_allocation(pad, query);
  };
  klass->decide_allocation = [](GstAggregator *a, GstQuery *query) -> gboolean {
    return muxer_of(a).decide_allocation(query);
  };
}

}  // namespace
}  // namespace cudatensor

static void gst_cuda_tensor_mux_class_init(GstCudaTensorMuxClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudatensormux_debug, "cudatensormux", 0, "cudatensormux");
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = cudatensor::set_property;
  object->get_property = cudatensor::get_property;
  object->finalize = cudatensor::finalize_mux;
  cudatensor::install_backend_properties(object);
  cudatensor::mux_properties().install(object, cudatensor::kFirstProperty);

  auto *element = GST_ELEMENT_CLASS(klass);
  element->set_context = cudatensor::set_context;
  element->request_new_pad = cudatensor::request_new_pad;
  element->release_pad = cudatensor::release_pad;
  cudatensor::add_pad_templates(element);
  cudatensor::set_metadata(
      element, {"cudatensormux", "CUDA tensor mux", "Muxer/Filter/Converter/Video/Scaler",
                "Combines the pictures of several cameras into one batched tensor"});
  gst_type_mark_as_plugin_api(gst_cuda_tensor_mux_pad_get_type(),
                              static_cast<GstPluginAPIFlags>(0));

  cudatensor::set_aggregator_functions(GST_AGGREGATOR_CLASS(klass));
}

static void gst_cuda_tensor_mux_child_proxy_init(gpointer interface, gpointer) {
  auto *children = static_cast<GstChildProxyInterface *>(interface);
  children->get_children_count = cudatensor::count_children;
  children->get_child_by_index = cudatensor::find_child;
}

static void gst_cuda_tensor_mux_init(GstCudaTensorMux *self) {
  self->muxer = new cudatensor::TensorMuxer(GST_AGGREGATOR(self), cudatensormux_debug);
}
