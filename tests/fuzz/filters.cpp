// SPDX-License-Identifier: LGPL-2.1-or-later
// Chains of our filters between two pads. Frames, events and properties change in turn, in one
// thread.
#include <gst/check/gstharness.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "frames.h"
#include "generate.h"
#include "surfaces.h"

namespace fuzz {
namespace {

struct Description {
  std::vector<const char *> factories;
  std::string launch;
  bool of_tensors = false;
  bool of_networks = false;  // tensors that come out of a network
  bool of_yuv420 = false;
};

Description random_chain(Random &random) {
  Description d;
  const auto add = [&](const char *factory, const std::string &more = "") {
    d.factories.push_back(factory);
    d.launch += (d.launch.empty() ? "" : " ! ") + (more.empty() ? "" : more + " ! ") + factory;
  };
  d.of_tensors = random.one_in(6);
  d.of_networks = d.of_tensors && random.one_in(2);
  d.of_yuv420 = !d.of_tensors && random.one_in(4);
  if (d.of_networks) {
    add("cudadetections");
    return d;
  }
  if (d.of_yuv420) add("cudanv12toyuv444");
  if (!d.of_tensors && random.one_in(3)) add("cudahistogram");
  if (!d.of_tensors && random.one_in(3)) add("cudaletterbox");
  if (!d.of_tensors && random.one_in(6)) add("cudahistogram");
  if (!d.of_tensors && (random.one_in(2) || d.factories.empty())) add("cudanormalize");
  const bool tensors = d.of_tensors || strcmp(d.factories.back(), "cudanormalize") == 0;
  if (tensors && (d.of_tensors || random.one_in(8))) add("cudapixelshuffle");
  return d;
}

GstElement *new_bin(Run &run, const std::string &launch) {
  GError *error = nullptr;
  GstElement *bin = gst_parse_bin_from_description(launch.c_str(), TRUE, &error);
  if (error != nullptr) run.finding(std::string("the chain cannot be created: ") + error->message);
  g_clear_error(&error);
  return static_cast<GstElement *>(gst_object_ref_sink(bin));
}

/// A chain between pads, with its bus.
GQuark caps_quark() { return g_quark_from_static_string("caps"); }

/// The element may have other caps when the test takes the output.
GstPadProbeReturn note_caps(GstPad *pad, GstPadProbeInfo *info, gpointer) {
  gst_mini_object_set_qdata(GST_MINI_OBJECT(GST_PAD_PROBE_INFO_BUFFER(info)), caps_quark(),
                            gst_pad_get_current_caps(pad), [](gpointer caps) {
                              if (caps != nullptr) gst_caps_unref(GST_CAPS_CAST(caps));
                            });
  return GST_PAD_PROBE_OK;
}

class Chain {
 public:
  Chain(Run &run, GstElement *bin) : run_(run), bin_(bin), bus_(gst_bus_new()) {
    gst_element_set_bus(bin, bus_.get());
    for (GstElement *element : elements_of(bin)) living_.add(G_OBJECT(element));
  }
  ~Chain() {
    gst_harness_teardown(harness_);
    gst_element_set_bus(bin_.get(), nullptr);
    gst_bus_set_flushing(bus_.get(), TRUE);
    bin_.reset();
    if (living_.count() != 0)
      run_.finding(text("%d buffers or objects were not freed", living_.count()));
  }
  Chain(const Chain &) = delete;
  Chain &operator=(const Chain &) = delete;

  void start() {
    harness_ = gst_harness_new_with_element(bin_.get(), "sink", "src");
    const Ref<GstPad> src(gst_element_get_static_pad(bin_.get(), "src"));
    gst_pad_add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, note_caps, nullptr, nullptr);
  }

  GstElement *bin() const { return bin_.get(); }
  GstHarness *harness() const { return harness_; }
  GstBus *bus() const { return bus_.get(); }
  Living &living() { return living_; }

  Ref<GstCaps> caps_of(const char *pad_name) const {
    const Ref<GstPad> pad(gst_element_get_static_pad(bin_.get(), pad_name));
    return Ref<GstCaps>(gst_pad_get_current_caps(pad.get()));
  }
  bool event(GstEvent *event) { return gst_harness_push_event(harness_, event) != FALSE; }
  void begin(GstCaps *caps, const GstSegment &segment) {
    event(gst_event_new_stream_start("fuzz"));
    if (caps != nullptr) event(gst_event_new_caps(caps));
    event(gst_event_new_segment(&segment));
  }

 private:
  Run &run_;
  Ref<GstElement> bin_;
  Ref<GstBus> bus_;
  GstHarness *harness_ = nullptr;
  Living living_;
};

/// Caps that note_caps() has recorded; null if there were none.
GstCaps *caps_of_output(GstBuffer *out) {
  return static_cast<GstCaps *>(gst_mini_object_get_qdata(GST_MINI_OBJECT(out), caps_quark()));
}

/// A random answer of downstream to an allocation query.
struct Allocation {
  bool answers = false, video_meta = false, pool = false;
  GstAllocationParams params = {};
};

Allocation random_allocation(Random &random) {
  Allocation a;
  gst_allocation_params_init(&a.params);
  a.answers = random.one_in(2);
  a.video_meta = random.one_in(2);
  a.pool = random.one_in(3);
  a.params.align = random.pick({0, 0, 15, 63, 4095});
  a.params.prefix = random.pick({0, 0, 0, 1, 2, 3, 4, 64, 1000});
  a.params.padding = random.pick({0, 0, 1, 31, 100});
  return a;
}

void add_pool(GstQuery *query, GstCaps *caps, const Allocation &a) {
  const Ref<GstBufferPool> pool(gst_buffer_pool_new());
  const auto size = static_cast<guint>(size_of(caps));
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  gst_buffer_pool_config_set_allocator(config, nullptr, &a.params);
  if (size > 0 && gst_buffer_pool_set_config(pool.get(), config))
    gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
  else if (size == 0)
    gst_structure_free(config);
}

GstPadProbeReturn answer_allocation(GstPad *, GstPadProbeInfo *info, gpointer data) {
  const auto &a = *static_cast<const Allocation *>(data);
  GstQuery *const query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION || !a.answers) return GST_PAD_PROBE_OK;
  if ((info->type & GST_PAD_PROBE_TYPE_PULL) != 0) return GST_PAD_PROBE_OK;
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (a.video_meta) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  gst_query_add_allocation_param(query, nullptr, &a.params);
  if (a.pool && caps != nullptr) add_pool(query, caps, a);
  return GST_PAD_PROBE_HANDLED;
}

/// The pool that the chain offers upstream; null if it offers none.
Ref<GstBufferPool> offered_pool(GstHarness *harness, GstCaps *caps) {
  const Ref<GstQuery> query(gst_query_new_allocation(caps, TRUE));
  if (!gst_pad_peer_query(harness->srcpad, query.get())) return nullptr;
  if (gst_query_get_n_allocation_pools(query.get()) == 0) return nullptr;
  GstBufferPool *pool = nullptr;
  guint size = 0, min = 0, max = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, &size, &min, &max);
  if (pool == nullptr) return nullptr;
  Ref<GstBufferPool> owner(pool);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  if (gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
    return nullptr;
  return owner;
}

class Filters {
 public:
  explicit Filters(Run &run)
      : run_(run),
        random_(run.random),
        description_(random_chain(random_)),
        allocation_(random_allocation(random_)),
        chain_(run, new_bin(run, description_.launch)) {
    gst_segment_init(&segment_, GST_FORMAT_TIME);
  }

  void run() {
    run_.say(description_.launch);
    // Before any property is set, because a harness requires that its pads can be linked.
    chain_.start();
    for (GstElement *element : elements_of(chain_.bin()))
      for (long i = random_.between(0, 6); i > 0; --i) set_random_property(run_, element);
    gst_pad_add_probe(chain_.harness()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
                      answer_allocation, &allocation_, nullptr);
    set_downstream();
    new_caps();
    for (long i = random_.between(1, 30); i > 0; --i) step();
    run_.say("the end");
    if (random_.one_in(2)) chain_.event(gst_event_new_eos());
    check_quiet("at the end");
  }

 private:
  void step() {
    switch (random_.between(0, 24)) {
      case 0: return new_caps();
      case 1: return restart();
      case 2: return flush();
      case 3: return new_segment();
      case 4: return set_downstream();
      case 5: return ask();
      case 6: return other_event();
      case 7:
      case 8:
      case 9:
      case 10: return set_random_property(run_, random_.pick(elements_of(chain_.bin())));
      default: return push_frame();
    }
  }

  void set_downstream() {
    const std::string caps = random_.one_in(2) ? downstream_caps(run_) : "";
    run_.say("downstream accepts " + (caps.empty() ? "anything" : caps));
    downstream_.reset(caps.empty() ? gst_caps_new_any() : gst_caps_from_string(caps.c_str()));
    gst_harness_set_sink_caps(chain_.harness(), gst_caps_ref(downstream_.get()));
    // Requests renegotiation.
    gst_harness_push_upstream_event(chain_.harness(), gst_event_new_reconfigure());
  }

  void new_caps() {
    pool_.reset();
    const auto &formats = formats_of(description_.of_yuv420 ? "cudanv12toyuv444" : "cudaletterbox");
    const std::string caps = description_.of_networks  ? network_caps(run_)
                             : description_.of_tensors ? tensor_caps(run_)
                             : random_.one_in(6)
                                 ? surface_caps(run_, description_.of_yuv420, takes_batches())
                                 : video_caps(run_, formats);
    run_.say(caps);
    caps_.reset(gst_caps_from_string(caps.c_str()));
    if (caps_ == nullptr || !gst_caps_is_fixed(caps_.get())) return caps_.reset();
    chain_.begin(caps_.get(), segment_);
    check_errors("caps");
    if (random_.one_in(3)) pool_ = offered_pool(chain_.harness(), caps_.get());
  }

  /// Returns whether the element takes batches of surfaces. Other elements take one picture per
  /// buffer.
  bool takes_batches() const {
    return !run_.sane || strcmp(description_.factories.front(), "cudanormalize") == 0;
  }

  void restart() {
    run_.say("restart");
    ++totals().restarts;
    pool_.reset();
    gst_element_set_state(chain_.bin(), random_.one_in(2) ? GST_STATE_NULL : GST_STATE_READY);
    gst_element_set_state(chain_.bin(), GST_STATE_PLAYING);
    chain_.begin(caps_.get(), segment_);
    check_errors("restart");
  }

  void flush() {
    run_.say("flush");
    chain_.event(gst_event_new_flush_start());
    chain_.event(gst_event_new_flush_stop(TRUE));
    chain_.event(gst_event_new_segment(&segment_));
    check_resent("flush");
  }

  void new_segment() {
    gst_segment_init(&segment_, run_.sane || random_.one_in(2)
                                    ? GST_FORMAT_TIME
                                    : random_.pick({GST_FORMAT_BYTES, GST_FORMAT_DEFAULT}));
    if (segment_.format == GST_FORMAT_TIME) {
      segment_.rate = random_.pick({1.0, 1.0, 2.0, -1.0});
      segment_.start = random_.pick<guint64>({0, 0, GST_SECOND});
      if (segment_.rate < 0.0 || random_.one_in(3)) segment_.stop = 4 * GST_SECOND;
      segment_.time = segment_.start;
      segment_.base = random_.pick<guint64>({0, 0, 5 * GST_SECOND});
    }
    run_.say(text("segment of %s, rate %g, start %" G_GUINT64_FORMAT,
                  gst_format_get_name(segment_.format), segment_.rate, segment_.start));
    chain_.event(gst_event_new_segment(&segment_));
    check_resent("segment");
  }

  void ask() {
    run_.say("queries");
    for (const char *name : {"sink", "src"}) {
      const Ref<GstPad> pad(gst_element_get_static_pad(chain_.bin(), name));
      const Ref<GstCaps> any(gst_pad_query_caps(pad.get(), nullptr));
      const Ref<GstCaps> some(gst_caps_from_string(video_caps(run_, {"NV12", "RGB"}).c_str()));
      if (some == nullptr) continue;
      const Ref<GstCaps> filtered(gst_pad_query_caps(pad.get(), some.get()));
      if (!gst_caps_is_subset(filtered.get(), some.get()))
        run_.finding("caps that do not match the filter");
      if (gst_caps_is_fixed(some.get())) gst_pad_query_accept_caps(pad.get(), some.get());
    }
    check_quiet("queries");
  }

  void other_event() {
    run_.say("another event");
    GstHarness *const harness = chain_.harness();
    switch (random_.between(0, 4)) {
      case 0: chain_.event(gst_event_new_gap(GST_SECOND, 33 * GST_MSECOND)); break;
      case 1: chain_.event(gst_event_new_tag(gst_tag_list_new_empty())); break;
      case 2:
        gst_harness_push_upstream_event(
            harness, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, random_.between(-9, 99),
                                       random_.between(100, 1000)));
        break;
      case 3:
        gst_harness_push_upstream_event(
            harness, gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                        GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0));
        break;
      default: chain_.event(gst_event_new_eos()); flush();
    }
    check_errors("event");
  }

  void push_frame() {
    if (caps_ == nullptr) return;
    take_collected();
    Frame frame = random_frame(run_, caps_.get(), pool_.get());
    if (frame.buffer == nullptr) return;
    const Ref<GstBuffer> plain = std::move(frame.plain);
    chain_.living().add(frame.buffer.get());
    const bool beside = !is_in_segment(plain.get());
    has_collected_ = has_collected_ || collects();
    times_.push_back(GST_BUFFER_PTS(plain.get()));
    const GstFlowReturn flow = gst_harness_push(chain_.harness(), frame.buffer.release());
    const std::string errors = take_errors(run_, chain_.bus());
    run_.say(text("flow %s %s", gst_flow_get_name(flow), errors.c_str()));
    if (flow == GST_FLOW_OK && !errors.empty()) run_.finding("an error, although the flow is OK");
    if (flow == GST_FLOW_ERROR && errors.empty())
      run_.finding("a flow error without an error message");
    if (flow == GST_FLOW_NOT_NEGOTIATED) ++totals().refusals;
    const Ref<GstBuffer> out = take_output(frame.spoiled);
    // A failed frame may have completed the collected output.
    if (flow != GST_FLOW_OK && out != nullptr && !has_collected_)
      run_.finding("an output, although the frame failed");
    if (out != nullptr) check_times(plain.get(), out.get());
    if (!frame.spoiled && !beside && !has_collected_) compare(plain.get(), out.get(), flow, errors);
    if (out != nullptr) has_collected_ = collects();
  }

  /// Events make the element push the collected output.
  void take_collected() {
    while (const Ref<GstBuffer> out{gst_harness_try_pull(chain_.harness())}) {
      check_output_with_caps(out.get(), false);
      if (!has_collected_) run_.finding("an output without a frame");
      has_collected_ = collects();
    }
  }

  /// Returns whether frames of several times go into one output.
  bool collects() const {
    for (GstElement *element : elements_of(chain_.bin())) {
      if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "frames-per-tensor") == nullptr)
        continue;
      guint frames = 1;
      g_object_get(element, "frames-per-tensor", &frames, nullptr);
      if (frames > 1) return true;
    }
    return false;
  }

  bool is_in_segment(GstBuffer *buffer) const {
    return segment_.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer) &&
           GST_BUFFER_PTS(buffer) >= segment_.start &&
           (segment_.stop == GST_CLOCK_TIME_NONE || GST_BUFFER_PTS(buffer) < segment_.stop);
  }

  /// A damaged frame passes cudahistogram unchanged if it has nothing to count.
  Ref<GstBuffer> take_output(bool spoiled) {
    Ref<GstBuffer> out(gst_harness_try_pull(chain_.harness()));
    if (out == nullptr) return nullptr;
    chain_.living().add(out.get());
    if (Ref<GstBuffer>(gst_harness_try_pull(chain_.harness())) != nullptr && !has_collected_)
      run_.finding("two outputs for one frame");
    check_output_with_caps(out.get(), spoiled);
    return out;
  }

  void check_output_with_caps(GstBuffer *out, bool spoiled) {
    GstCaps *const caps = caps_of_output(out);
    if (caps == nullptr)
      run_.finding("an output without caps");
    else if (!spoiled && !description_.of_networks)  // cudadetections passes its input on
      check_output(run_, out, caps);
  }

  void check_times(GstBuffer *in, GstBuffer *out) {
    if (has_collected_) {
      if (std::find(times_.begin(), times_.end(), GST_BUFFER_PTS(out)) == times_.end())
        run_.finding("the timestamp of the output is of none of its frames");
      return;
    }
    if (GST_BUFFER_PTS(in) != GST_BUFFER_PTS(out) ||
        GST_BUFFER_DURATION(in) != GST_BUFFER_DURATION(out) ||
        GST_BUFFER_DTS(in) != GST_BUFFER_DTS(out))
      run_.finding("the timestamps of output and input differ");
  }

  /// Compares the output with that of new elements with the current properties for the same frame.
  void compare(GstBuffer *plain, GstBuffer *out, GstFlowReturn flow, const std::string &errors) {
    const Ref<GstCaps> caps = chain_.caps_of("src");
    if (!random_.one_in(3) || (out == nullptr && errors.empty()) || asks_for_gpu() ||
        reads_files(elements_of(chain_.bin())))
      return;
    ++totals().compared;
    Chain fresh(run_, new_bin(run_, description_.launch));
    const std::vector<GstElement *> from = elements_of(chain_.bin()), to = elements_of(fresh.bin());
    fresh.start();
    for (gsize i = 0; i < from.size(); ++i)
      copy_properties(from[i], to[i], random_.pick({1, 2, 5}));
    GstCaps *const taken = out != nullptr ? caps.get() : downstream_.get();
    gst_harness_set_sink_caps(fresh.harness(), gst_caps_ref(taken));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    fresh.begin(caps_.get(), segment);
    GstBuffer *const copy = gst_buffer_copy(plain);
    GST_BUFFER_PTS(copy) = 0;
    const GstFlowReturn alone = gst_harness_push(fresh.harness(), copy);
    const std::string other = take_errors(run_, fresh.bus());
    const Ref<GstBuffer> expected(gst_harness_try_pull(fresh.harness()));
    if (alone != flow && flow == GST_FLOW_OK)
      return run_.finding(
          "new elements fail with this frame: " + text("%s ", gst_flow_get_name(alone)) + other);
    if (alone == GST_FLOW_OK && flow == GST_FLOW_ERROR)
      return run_.finding("new elements do not fail with this frame: " + errors);
    if (out == nullptr || expected == nullptr) return;
    if (samples_of(out, caps.get()) != samples_of(expected.get(), caps.get()))
      run_.finding("new elements give another result");
  }

  bool asks_for_gpu() const {
    for (GstElement *element : elements_of(chain_.bin())) {
      gint backend = 0;
      g_object_get(element, "backend", &backend, nullptr);
      if (backend == 1) return true;
    }
    return false;
  }

  void check_errors(const char *where) {
    const std::string errors = take_errors(run_, chain_.bus());
    if (!errors.empty()) run_.say(std::string(where) + ": " + errors);
  }
  /// Checks the errors after an event. Before the event, GStreamer sends rejected caps again, which
  /// may be rejected again.
  void check_resent(const char *where) {
    const std::string errors = take_errors(run_, chain_.bus());
    if (errors.empty()) return;
    run_.say(std::string(where) + ": " + errors);
    if (run_.sane && errors.find("not negotiated") == std::string::npos)
      run_.finding(std::string(where) + ": " + errors);
  }
  void check_quiet(const char *where) {
    const std::string errors = take_errors(run_, chain_.bus());
    if (!errors.empty() && run_.sane) run_.finding(std::string(where) + ": " + errors);
  }

  Run &run_;
  Random &random_;
  Description description_;
  Allocation allocation_;
  Chain chain_;
  GstSegment segment_;
  Ref<GstCaps> caps_, downstream_;
  Ref<GstBufferPool> pool_;
  std::vector<GstClockTime> times_;  // times of the frames
  bool has_collected_ = false;       // frames may wait for an output of several frames
};

}  // namespace

void run_filters(Run &run) { Filters(run).run(); }

}  // namespace fuzz
