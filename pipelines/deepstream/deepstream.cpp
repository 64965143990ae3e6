// SPDX-License-Identifier: LGPL-2.1-or-later
// Combines frames of DeepStream's decoders into batches of tensors, without copying a frame. A
// separate thread receives them through DLPack, on its own CUDA stream.
//
// To turn this template into an application, put your network into Consumer::infer().
#include <gst/app/gstappsink.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "batches/batch.h"
#include "batches/failure.h"
#include "report.h"
#include "source.h"
#include "sources.h"

namespace {

struct Options {
  const gchar *tensor = "width=640 height=640 resize-mode=ultralytics";
  const gchar *decoder = "nvv4l2decoder";
  const gchar *mux = "width=1920 height=1080";
  gboolean streammux = FALSE;
  gint batches = 0;
  gchar **sources = nullptr;
};

using Sources = std::vector<std::unique_ptr<Source>>;

struct Totals {
  guint batches = 0, frames = 0;
};

/// Returns a message that ends the program.
GstMessage *new_end(GstObject *source, const std::string &failure) {
  return gst_message_new_application(
      source, gst_structure_new("end", "failure", G_TYPE_STRING, failure.c_str(), nullptr));
}

/// A thread that takes batches until the sink stops or `most` batches were taken.
class Consumer {
 public:
  /// `most` = 0 takes all batches. Only this thread uses the totals while the consumer exists.
  Consumer(GstElement *sink, guint most, Totals &totals)
      : sink_(sink), most_(most), totals_(totals), thread_([this] { run(); }) {}
  ~Consumer() { thread_.join(); }

 private:
  void run() try {
    while (GstSample *sample = gst_app_sink_pull_sample(GST_APP_SINK(sink_))) {
      take(sample);
      if (totals_.batches == most_) return end("");
    }
  } catch (const std::exception &error) {
    end(error.what());
  }

  void end(const std::string &failure) {
    gst_element_post_message(sink_, new_end(GST_OBJECT(sink_), failure));
  }

  void take(GstSample *sample) {
    const Batch batch(sample, stream_);
    const std::vector<float> results = infer(batch.dlpack());
    std::printf("batch %u\n", totals_.batches++);
    totals_.frames += print_slots(batch.tensor(), results);
    std::fflush(stdout);
  }

  /// Returns a result for each slot, here the center pixel of the first channel. Queue your network
  /// on stream_.
  std::vector<float> infer(const DLTensor &batch) { return center_pixels(batch, stream_); }

  Stream stream_;
  GstElement *sink_;
  const guint most_;
  Totals &totals_;
  std::thread thread_;  // uses the fields above
};

GstElement *make_pipeline(const Options &options) {
  GError *error = nullptr;
  const std::string batch_size =
      " name=mux batch-size=" + std::to_string(g_strv_length(options.sources)) + " ";
  const std::string batches = options.streammux ? "nvstreammux" + batch_size + options.mux +
                                                      " ! cudanormalize " + options.tensor
                                                : "cudatensormux" + batch_size + options.tensor;
  const std::string description =
      batches + " ! " + kTensors + " ! appsink name=sink async=false sync=false max-buffers=2";
  GstElement *pipeline =
      gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (pipeline == nullptr) fail("cannot create the pipeline", error);
  // DeepStream's surfaces are in this context, as is the memory of this application's CUDA code.
  // Fails if there is no CUDA.
  gst_cuda_tensor_share_primary_context(pipeline, 0, nullptr);
  return pipeline;
}

Sources add_sources(GstElement *pipeline, const Options &options) {
  g_autoptr(GstElement) mux = gst_bin_get_by_name(GST_BIN(pipeline), "mux");
  Sources sources;
  for (guint i = 0; options.sources[i] != nullptr; ++i) {
    const std::string uri = uri_of(options.sources[i]);
    sources.push_back(std::make_unique<Source>(pipeline, mux, i, uri, options.decoder));
  }
  return sources;
}

/// Replaces an error by a message that ends the program and names the source. This is done where
/// the error is posted, because a source that fails removes elements.
GstBusSyncReply on_message(GstBus *bus, GstMessage *message, gpointer data) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR) return GST_BUS_PASS;
  GstObject *element = GST_MESSAGE_SRC(message);
  g_autoptr(GError) error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  std::string failure = error->message;
  for (const auto &source : *static_cast<const Sources *>(data))
    if (source->owns(element)) failure = source->cause_of(error);
  gst_bus_post(bus, new_end(element, failure));
  gst_message_unref(message);
  return GST_BUS_DROP;
}

/// Returns the cause of a failure; empty if there is none.
std::string wait_for_end(GstBus *bus, GstClockTime most, const Sources &sources) {
  constexpr auto kEnds = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_APPLICATION);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(bus, most, kEnds);
  if (message == nullptr) return "the pipeline does not start";
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_APPLICATION)
    return gst_structure_get_string(gst_message_get_structure(message), "failure");
  for (const auto &source : sources)
    if (const std::string refusal = source->refusal(); !refusal.empty()) return refusal;
  return "";
}

void run(const Options &options) {
  g_autoptr(GstElement) pipeline = make_pipeline(options);
  Sources sources = add_sources(pipeline, options);  // destroyed before the pipeline
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, on_message, &sources, nullptr);
  const auto started = gst_element_set_state(pipeline, GST_STATE_PLAYING);
  std::string failure;
  Totals totals;
  {
    const Consumer consumer(sink, static_cast<guint>(options.batches), totals);
    const bool fails = started == GST_STATE_CHANGE_FAILURE;
    failure = wait_for_end(bus, fails ? 0 : GST_CLOCK_TIME_NONE, sources);
    gst_element_set_state(pipeline, GST_STATE_NULL);  // ends the consumer
  }
  if (failure.empty() && totals.batches == 0) failure = "the sources sent no frames";
  if (!failure.empty()) fail(failure);
  std::printf("%u batches, %u frames\n", totals.batches, totals.frames);
}

}  // namespace

int main(int argc, char **argv) try {
  Options options;
  const GOptionEntry entries[] = {
      {"streammux", 's', 0, G_OPTION_ARG_NONE, &options.streammux,
       "Combine the surfaces with nvstreammux, before cudanormalize", nullptr},
      {"mux", 'm', 0, G_OPTION_ARG_STRING, &options.mux,
       "Properties of nvstreammux (width=1920 height=1080)", "PROPERTIES"},
      {"tensor", 't', 0, G_OPTION_ARG_STRING, &options.tensor,
       "Properties of cudatensormux or cudanormalize (width=640 height=640 "
       "resize-mode=ultralytics)",
       "PROPERTIES"},
      {"batches", 'n', 0, G_OPTION_ARG_INT, &options.batches, "Stop after N batches", "N"},
      {"decoder", 'd', 0, G_OPTION_ARG_STRING, &options.decoder,
       "The decoder and its properties (nvv4l2decoder)", "ELEMENT"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.sources, nullptr, "URI..."},
      {}};
  g_autoptr(GOptionContext) context = g_option_context_new("- batches from DeepStream's decoders");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  GError *error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error))
    fail("cannot parse the options", error);
  g_auto(GStrv) sources = options.sources;
  if (sources == nullptr) fail("give at least one URI or file");
  if (options.batches < 0) fail("--batches must not be negative");
  run(options);
  return 0;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "deepstream: %s\n", failure.what());
  return 1;
}
