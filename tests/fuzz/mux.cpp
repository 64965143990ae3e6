// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux with cameras that come, go, change and end, some of them in separate threads.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/check/gstharness.h>

#include <map>

#include "frames.h"
#include "generate.h"
#include "gst/util/gstversion.h"

namespace fuzz {
namespace {

constexpr GstClockTime kEnd = 60 * GST_SECOND;

struct Camera {
  GstElement *source = nullptr, *queue = nullptr;  // owned by the pipeline
  GstPad *pad = nullptr;                           // owned by the mux
  Ref<GstCaps> caps;
  GstClockTime time = 0;
  int index = 0;
  bool ended = false;
};

struct Shown {
  Ref<GstBuffer> plain;
  Ref<GstCaps> caps;
};

class Mux {
 public:
  explicit Mux(Run &run) : run_(run), random_(run.random), pipeline_(gst_pipeline_new(nullptr)) {
    gst_object_ref_sink(pipeline_.get());
    mux_ = gst_element_factory_make("cudatensormux", "m");
    sink_ = gst_element_factory_make("appsink", nullptr);
    if (mux_ == nullptr || sink_ == nullptr)
      g_error("cudatensormux was not found; check GST_PLUGIN_PATH");
    g_object_set(sink_, "sync", FALSE, "async", FALSE, nullptr);
    gst_bin_add_many(GST_BIN(pipeline_.get()), mux_, sink_, nullptr);
    gst_element_link(mux_, sink_);
    living_.add(G_OBJECT(mux_));
    bus_.reset(gst_element_get_bus(pipeline_.get()));
  }

  ~Mux() {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    for (Camera &camera : cameras_) gst_object_unref(camera.pad);
    outputs_.clear();
    gst_bus_set_flushing(bus_.get(), TRUE);
    pipeline_.reset();
    if (living_.count() != 0)
      run_.finding(text("%d buffers or objects were not freed", living_.count()));
  }

  void run() {
    run_.say("cudatensormux");
    for (long i = random_.between(0, 8); i > 0; --i) set_property();
    const std::string downstream = random_.one_in(4) ? downstream_caps(run_) : "";
    if (!downstream.empty()) {
      run_.say("downstream accepts " + downstream);
      const Ref<GstCaps> caps(gst_caps_from_string(downstream.c_str()));
      g_object_set(sink_, "caps", caps.get(), nullptr);
    }
    for (long i = random_.between(1, 4); i > 0; --i) add_camera();
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    for (long i = random_.between(0, 40); i > 0; --i) step();
    finish();
  }

 private:
  void step() {
    if (cameras_.empty()) return add_camera();
    Camera &camera = cameras_[random_.between(0, static_cast<long>(cameras_.size()) - 1)];
    switch (random_.between(0, 29)) {
      case 0: return new_caps(camera);
      case 1: return gap(camera);
      case 2: return random_.one_in(3) ? end(camera) : push_frame(camera);
      case 3:
      case 4: return change_property();
      case 5: return random_.one_in(2) ? add_camera() : push_frame(camera);
      case 6: return random_.one_in(3) ? remove_camera() : push_frame(camera);
      case 7: return random_.one_in(4) ? restart() : push_frame(camera);
      case 8: return ask();
      case 9: return flush(camera);
      case 10: g_usleep(random_.between(0, 2000)); return;
      default: return push_frame(camera);
    }
  }

  void add_camera() {
    Camera camera;
    const bool numbered = random_.one_in(4);
    const std::string name = numbered ? text("sink_%ld", random_.between(0, 6)) : "sink_%u";
    const Ref<GstPad> taken(gst_element_get_static_pad(mux_, name.c_str()));
    if (taken != nullptr) return;
    camera.pad = gst_element_request_pad_simple(mux_, name.c_str());
    run_.say("a camera for " + name + (camera.pad == nullptr ? ", rejected" : ""));
    if (camera.pad == nullptr) return;
    changed_ = true;
    camera.source = gst_element_factory_make("appsrc", nullptr);
    camera.queue = gst_element_factory_make(random_.one_in(2) ? "queue" : "identity", nullptr);
    g_object_set(camera.source, "format", GST_FORMAT_TIME, nullptr);
    gst_bin_add_many(GST_BIN(pipeline_.get()), camera.source, camera.queue, nullptr);
    gst_element_link(camera.source, camera.queue);
    const Ref<GstPad> from(gst_element_get_static_pad(camera.queue, "src"));
    if (gst_pad_link(from.get(), camera.pad) != GST_PAD_LINK_OK)
      run_.finding("a camera cannot be linked");
    camera.index = static_cast<int>(g_ascii_strtoull(GST_PAD_NAME(camera.pad) + 5, nullptr, 10));
    if (!cameras_.empty()) camera.time = cameras_.back().time;
    cameras_.push_back(std::move(camera));
    if (!random_.one_in(run_.sane ? 1000 : 25)) new_caps(cameras_.back());
    gst_element_sync_state_with_parent(cameras_.back().queue);
    gst_element_sync_state_with_parent(cameras_.back().source);
  }

  void remove_camera() {
    if (cameras_.size() < 2) return;
    Camera camera = std::move(cameras_.back());
    cameras_.pop_back();
    run_.say(std::string("removes ") + GST_PAD_NAME(camera.pad));
    changed_ = true;
    // The pad first, because its camera may be blocked there until the others have frames.
    gst_element_release_request_pad(mux_, camera.pad);
    gst_element_set_state(camera.source, GST_STATE_NULL);
    gst_object_unref(camera.pad);
    gst_element_set_state(camera.queue, GST_STATE_NULL);
    gst_bin_remove_many(GST_BIN(pipeline_.get()), camera.source, camera.queue, nullptr);
  }

  void new_caps(Camera &camera) {
    const std::string caps = video_caps(run_, formats_of("cudatensormux"));
    run_.say(text("sink_%d: ", camera.index) + caps);
    camera.caps.reset(gst_caps_from_string(caps.c_str()));
    if (camera.caps != nullptr && !gst_caps_is_fixed(camera.caps.get())) camera.caps.reset();
    if (camera.caps != nullptr) gst_app_src_set_caps(GST_APP_SRC(camera.source), camera.caps.get());
  }

  void push_frame(Camera &camera) {
    if (camera.caps == nullptr || camera.ended) return;
    Frame frame = random_frame(run_, camera.caps.get());
    if (frame.buffer == nullptr) return;
    // appsrc and queues keep references to buffers.
    living_.add(frame.buffer.get());
    if (run_.sane || random_.one_in(2)) {
      GST_BUFFER_PTS(frame.buffer.get()) = camera.time;
      GST_BUFFER_DURATION(frame.buffer.get()) = 33 * GST_MSECOND;
      camera.time += random_.pick<GstClockTime>({33, 33, 40, 100, 0}) * GST_MSECOND;
    }
    run_.say(text("sink_%d at %" GST_TIME_FORMAT, camera.index,
                  GST_TIME_ARGS(GST_BUFFER_PTS(frame.buffer.get()))));
    if (!frame.spoiled)
      shown_[{camera.index, GST_BUFFER_PTS(frame.buffer.get())}] = {
          std::move(frame.plain), Ref<GstCaps>(gst_caps_ref(camera.caps.get()))};
    gst_app_src_push_buffer(GST_APP_SRC(camera.source), frame.buffer.release());
  }

  void gap(Camera &camera) {
    // GstAggregator accepts no gap before a segment, which the source sends with its first frame.
    GstEvent *segment = gst_pad_get_sticky_event(camera.pad, GST_EVENT_SEGMENT, 0);
    if (segment == nullptr) return;
    gst_event_unref(segment);
    run_.say(text("sink_%d: a gap", camera.index));
    gst_element_send_event(camera.source, gst_event_new_gap(camera.time, 33 * GST_MSECOND));
  }

  void end(Camera &camera) {
    run_.say(text("sink_%d ends", camera.index));
    gst_app_src_end_of_stream(GST_APP_SRC(camera.source));
    camera.ended = true;
  }

  void flush(Camera &camera) {
    run_.say(text("sink_%d: a flush", camera.index));
    ++attempts_;
    changed_ = true;
    gst_element_send_event(camera.source, gst_event_new_flush_start());
    gst_element_send_event(camera.source, gst_event_new_flush_stop(TRUE));
    if (cudatensor::is_at_least_1(26)) camera.ended = false;  // appsrc forgets its end
  }

  void change_property() {
    changed_ = true;
    set_property();
  }

  void set_property() {
    set_random_property(run_, mux_);
    GValue regions = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(mux_), "regions", &regions);
    gchar *const choice = gst_value_serialize(&regions);
    may_show_nothing_ |= g_strcmp0(choice, "meta") == 0 || g_strcmp0(choice, "list") == 0;
    g_free(choice);
    g_value_unset(&regions);
  }

  void restart() {
    run_.say("restart");
    ++totals().restarts;
    ++attempts_;
    changed_ = true;
    gst_element_set_state(pipeline_.get(),
                          random_.pick({GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED}));
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    for (Camera &camera : cameras_) camera.ended = false;
  }

  void ask() {
    run_.say("queries");
    const Ref<GstPad> pad(gst_element_get_static_pad(mux_, "src"));
    gint64 position = 0;
    gst_pad_query_position(pad.get(), GST_FORMAT_TIME, &position);
    const Ref<GstQuery> latency(gst_query_new_latency());
    gst_pad_query(pad.get(), latency.get());
    const Ref<GstCaps> caps(gst_pad_query_caps(cameras_.front().pad, nullptr));
    gst_pad_send_event(pad.get(), gst_event_new_reconfigure());
    gst_pad_send_event(pad.get(), gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 1.0, -5, 1000));
  }

  /// Ends all cameras. The mux must then send EOS or post an error.
  void finish() {
    for (Camera &camera : cameras_)
      if (!camera.ended) end(camera);
    GstSample *sample = nullptr;
    bool failed = false;
    const gint64 patience = g_get_monotonic_time() + kEnd / 1000;
    for (;;) {
      sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink_), 20 * GST_MSECOND);
      if (sample != nullptr) {
        check(sample);
        gst_sample_unref(sample);
        continue;
      }
      if (gst_app_sink_is_eos(GST_APP_SINK(sink_)) || cameras_.empty()) break;
      const std::string errors = take_errors(run_, bus_.get(), attempts_);
      failed |= !errors.empty();
      if (!errors.empty()) run_.say("errors: " + errors);
      if (failed) break;
      if (g_get_monotonic_time() > patience) return run_.finding("neither EOS nor an error");
    }
    if (!failed) compare();
  }

  void check(GstSample *sample) {
    GstBuffer *const buffer = gst_sample_get_buffer(sample);
    GstCaps *const caps = gst_sample_get_caps(sample);
    if (caps == nullptr) return run_.finding("a batch without caps");
    living_.add(buffer);
    check_output(run_, buffer, caps);
    const GValue *slots = slots_of(buffer);
    if (slots == nullptr) return run_.finding("a batch without its meta");
    bool any = false;
    for (guint i = 0; i < gst_value_array_get_size(slots); ++i) any |= slot(slots, i).valid;
    // With regions=meta, the frames decide how many regions there are; those of a list may lie
    // outside of a small picture.
    if (!any && !may_show_nothing_) run_.finding("a batch without a picture");
    outputs_.push_back({Ref<GstBuffer>(gst_buffer_ref(buffer)), Ref<GstCaps>(gst_caps_ref(caps))});
  }

  struct Slot {
    gboolean valid = FALSE;
    int index = -1;
    GstClockTime pts = GST_CLOCK_TIME_NONE;
  };

  static const GValue *slots_of(GstBuffer *buffer) {
    GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "GstCudaTensorBatchMeta");
    return meta != nullptr ? gst_structure_get_value(gst_custom_meta_get_structure(meta), "slots")
                           : nullptr;
  }

  static Slot slot(const GValue *slots, guint i) {
    Slot slot;
    const GstStructure *s = gst_value_get_structure(gst_value_array_get_value(slots, i));
    gst_structure_get(s, "valid", G_TYPE_BOOLEAN, &slot.valid, "pad-index", G_TYPE_INT, &slot.index,
                      nullptr);
    gst_structure_get_uint64(s, "pts", &slot.pts);
    return slot;
  }

  /// Compares a slot with the output of cudanormalize for the same frame.
  void compare() {
    if (changed_ || !run_.sane) return;
    for (const Shown &output : outputs_) {
      const GValue *slots = slots_of(output.plain.get());
      const Bytes all = samples_of(output.plain.get(), output.caps.get());
      const guint count = gst_value_array_get_size(slots);
      for (guint i = 0; i < count && random_.one_in(3); ++i) {
        const Slot slot = Mux::slot(slots, i);
        const auto shown = shown_.find({slot.index, slot.pts});
        if (!slot.valid || shown == shown_.end()) continue;
        const gsize size = all.size() / count;
        const Bytes part(all.begin() + i * size, all.begin() + (i + 1) * size);
        if (part != alone(shown->second, output.caps.get()))
          run_.finding(text("slot %u differs from its frame", i));
      }
    }
  }

  Bytes alone(const Shown &shown, GstCaps *batch);

  Run &run_;
  Random &random_;
  Living living_;
  Ref<GstElement> pipeline_;
  Ref<GstBus> bus_;
  GstElement *mux_ = nullptr, *sink_ = nullptr;
  std::vector<Camera> cameras_;
  std::map<std::pair<int, GstClockTime>, Shown> shown_;
  std::vector<Shown> outputs_;
  int attempts_ = 1;  // attempts of the mux to produce batches
  bool changed_ = false;
  bool may_show_nothing_ = false;  ///< regions=meta or list, now or before
};

/// The caps of one slot of a batch.
Ref<GstCaps> slot_caps(GstCaps *batch) {
  GstCaps *caps = gst_caps_copy(batch);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  gchar **sides = g_strsplit(gst_structure_get_string(s, "dimensions"), ":", -1);
  const std::string one = std::string(sides[0]) + ":" + sides[1] + ":" + sides[2] + ":1";
  g_strfreev(sides);
  gst_caps_set_simple(caps, "dimensions", G_TYPE_STRING, one.c_str(), "framerate",
                      GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  return Ref<GstCaps>(caps);
}

Bytes Mux::alone(const Shown &shown, GstCaps *batch) {
  ++totals().compared;
  GstElement *normalize = gst_element_factory_make("cudanormalize", nullptr);
  copy_properties(mux_, normalize, random_.pick({1, 2, 5}));
  GstHarness *harness = gst_harness_new_with_element(normalize, "sink", "src");
  gst_harness_set_sink_caps(harness, slot_caps(batch).release());
  gst_harness_set_src_caps(harness, gst_caps_ref(shown.caps.get()));
  GstBuffer *const copy = gst_buffer_copy(shown.plain.get());
  GST_BUFFER_PTS(copy) = 0;
  gst_harness_push(harness, copy);
  const Ref<GstBuffer> out(gst_harness_try_pull(harness));
  const Bytes bytes = out != nullptr ? samples_of(out.get(), batch) : Bytes();
  gst_harness_teardown(harness);
  gst_object_unref(normalize);
  return bytes;
}

}  // namespace

void run_mux(Run &run) { Mux(run).run(); }

}  // namespace fuzz
