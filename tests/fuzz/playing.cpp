// SPDX-License-Identifier: LGPL-2.1-or-later
// Complete pipelines that play with the threads of sources and queues, while another thread sets
// properties, seeks, and changes caps and states. Nothing may hang, crash or leak.
#include <map>

#include "frames.h"
#include "generate.h"
#include "gst/util/gstversion.h"
#include "networks.h"

namespace fuzz {
namespace {

std::string source(Run &run, const std::string &name, const std::vector<std::string> &formats) {
  const bool live = run.random.one_in(3);
  return text("videotestsrc is-live=%s num-buffers=%ld ! capsfilter name=%s caps=\"",
              live ? "true" : "false", run.random.one_in(3) ? 20L : -1L, name.c_str()) +
         video_caps(run, formats) + "\"";
}

std::string launch(Run &run) {
  Random &random = run.random;
  const std::vector<std::string> formats = {"NV12", "RGB", "I420", "GRAY8", "BGRx"};
  const std::string sink = " ! fakesink sync=false async=false ";
  switch (random.between(0, 6)) {
    case 0:
      return source(run, "c0", formats) + " ! cudahistogram ! tee name=t t. ! queue ! " +
             "cudaletterbox ! cudanormalize" + sink + "t. ! queue ! cudanormalize" + sink;
    case 1:
      return source(run, "c0", {"NV12", "I420"}) + " ! queue ! cudanv12toyuv444 ! queue ! " +
             "cudanormalize" + sink;
    case 2: {
      std::string all = "cudatensormux name=m ! queue" + sink;
      for (long i = random.between(1, 3); i > 0; --i)
        all += source(run, text("c%ld", i), formats) + " ! queue ! m. ";
      return all;
    }
    case 3:
      return source(run, "c0", formats) + " ! cudanormalize dtype=uint8 ! queue leaky=2 ! " +
             "cudapixelshuffle upscale-factor=1" + sink;
    case 4:
      return source(run, "c0", formats) + " ! cudaletterbox keep-input=true ! tee name=t t. ! " +
             "queue leaky=2 ! cudarestore ! cudahistogram" + sink + "t. ! queue ! cudanormalize" +
             sink;
    case 5:
      return source(run, "c0", formats) +
             " ! cudanormalize ! queue ! cudainference model=" + network_file(run) + sink;
    default:
      return "input-selector name=s sync-streams=false ! cudahistogram interval=0 ! cudanormalize" +
             sink + source(run, "c0", formats) + " ! s. " + source(run, "c1", formats) + " ! s. ";
  }
}

class Playing {
 public:
  explicit Playing(Run &run) : run_(run), random_(run.random) {
    const std::string description = launch(run);
    run.say(description);
    GError *error = nullptr;
    GstElement *pipeline = gst_parse_launch(description.c_str(), &error);
    if (error != nullptr) run.say(std::string("parse error: ") + error->message);
    g_clear_error(&error);
    if (pipeline == nullptr) return;
    pipeline_.reset(static_cast<GstElement *>(gst_object_ref_sink(pipeline)));
    bus_.reset(gst_element_get_bus(pipeline));
    for (GstElement *element : elements_of(pipeline)) watch_element(element);
  }

  ~Playing() {
    if (pipeline_ == nullptr) return;
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    gst_bus_set_flushing(bus_.get(), TRUE);
    pipeline_.reset();
    if (living_.count() != 0)
      run_.finding(text("%d buffers or objects were not freed", living_.count()));
  }

  void run() {
    if (pipeline_ == nullptr) return;
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    for (long i = random_.between(3, 20); i > 0; --i) {
      g_usleep(random_.between(0, 3000));
      attempts_ = 2;  // an error of the last step may come late
      step();
      const std::string errors = take_errors(run_, bus_.get(), attempts_);
      if (!errors.empty()) run_.say("errors: " + errors);
    }
    // A change of state waits for the threads, so it hangs if a thread is stuck.
    run_.say("the end");
  }

 private:
  void watch_element(GstElement *element) {
    living_.add(G_OBJECT(element));
    const Ref<GstPad> pad(gst_element_get_static_pad(element, "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, look, &run_, nullptr);
  }

  /// Whether the pad's element creates frames. An input-selector may send frames before their caps,
  /// and cudahistogram passes them on.
  static bool makes_frames(GstPad *pad) {
    const Ref<GstElement> element(gst_pad_get_parent_element(pad));
    return element != nullptr &&
           !g_str_has_prefix(GST_OBJECT_NAME(gst_element_get_factory(element.get())),
                             "cudahistogram");
  }

  static GstPadProbeReturn look(GstPad *pad, GstPadProbeInfo *info, gpointer run) {
    if (!makes_frames(pad)) return GST_PAD_PROBE_OK;
    const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
    // A pad that is being stopped forgets its caps, also while its last buffer is on its way.
    if (caps == nullptr && !GST_PAD_IS_FLUSHING(pad))
      static_cast<Run *>(run)->finding("an output without caps");
    if (caps == nullptr) return GST_PAD_PROBE_OK;
    const auto check = are_outputs(caps.get()) ? check_outputs : check_output;
    check(*static_cast<Run *>(run), GST_PAD_PROBE_INFO_BUFFER(info), caps.get());
    return GST_PAD_PROBE_OK;
  }

  void step() {
    switch (random_.between(0, 11)) {
      case 0:
      case 1: return new_caps();
      case 2: return seek();
      case 3: return restart();
      case 4: return switch_input();
      case 5: return ask();
      case 6: return end();
      default: return set_random_property(run_, random_.pick(elements_of(pipeline_.get())));
    }
  }

  /// Sends EOS, except in two cases. An input-selector blocks one of two sources, and the event
  /// would wait for it. A GstAggregator of GStreamer 1.22 fails with an invalid sequence number if
  /// no segment has arrived after a flush.
  void end() {
    for (const char *name : {"s", "m"})
      if (Ref<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name)) != nullptr) return;
    if (!random_.one_in(4)) return;
    run_.say("the end of the streams");
    gst_element_send_event(pipeline_.get(), gst_event_new_eos());
  }

  void new_caps() {
    const Ref<GstElement> filter(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "c0"));
    if (filter == nullptr) return;
    const Ref<GstCaps> caps(
        gst_caps_from_string(video_caps(run_, {"NV12", "I420", "RGB"}).c_str()));
    if (caps == nullptr) return;
    run_.say("other caps");
    g_object_set(filter.get(), "caps", caps.get(), nullptr);
  }

  /// Seeks, except in an input-selector of GStreamer 1.28, which hangs then with elements of
  /// GStreamer alone.
  void seek() {
    const Ref<GstElement> selector(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "s"));
    if (selector != nullptr && cudatensor::is_at_least_1(28)) return;
    const double rate = random_.pick({1.0, 1.0, 2.0, 0.5});
    run_.say(text("seek, rate %g", rate));
    ++attempts_;
    gst_element_seek(pipeline_.get(), rate, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
                     random_.between(0, 100) * GST_MSECOND, GST_SEEK_TYPE_NONE, 0);
  }

  void restart() {
    ++totals().restarts;
    const GstState state = random_.pick({GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL});
    run_.say(std::string("to ") + gst_element_state_get_name(state) + " and back");
    ++attempts_;
    gst_element_set_state(pipeline_.get(), state);
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  }

  void switch_input() {
    const Ref<GstElement> selector(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "s"));
    if (selector == nullptr) return;
    run_.say("another input");
    const Ref<GstPad> pad(
        gst_element_get_static_pad(selector.get(), random_.one_in(2) ? "sink_0" : "sink_1"));
    g_object_set(selector.get(), "active-pad", pad.get(), nullptr);
  }

  void ask() {
    run_.say("queries");
    const Ref<GstQuery> latency(gst_query_new_latency());
    gst_element_query(pipeline_.get(), latency.get());
    gint64 time = 0;
    gst_element_query_position(pipeline_.get(), GST_FORMAT_TIME, &time);
    gst_element_query_duration(pipeline_.get(), GST_FORMAT_TIME, &time);
    for (GstElement *element : elements_of(pipeline_.get())) {
      const Ref<GstPad> pad(gst_element_get_static_pad(element, "src"));
      const Ref<GstCaps> caps(gst_pad_query_caps(pad.get(), nullptr));
      gst_pad_send_event(pad.get(), gst_event_new_reconfigure());
      gst_pad_send_event(pad.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, 5, 1000));
    }
  }

  int attempts_ = 2;  // attempts of the elements to process frames in this step
  Run &run_;
  Random &random_;
  Ref<GstElement> pipeline_;
  Ref<GstBus> bus_;
  Living living_;
};

}  // namespace

void run_playing(Run &run) { Playing(run).run(); }

}  // namespace fuzz
