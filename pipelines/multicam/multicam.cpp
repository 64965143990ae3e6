// SPDX-License-Identifier: LGPL-2.1-or-later
// Combines many cameras into batches of tensors. A separate thread receives them through DLPack, on
// its own CUDA stream. A camera that fails, ends or stops sending is reconnected, and the others
// continue. One that can never work, because a file is wrong or a codec is missing, is given up.
//
// To turn this template into an application, put your network into Consumer::infer().
#include <glib-unix.h>
#include <gst/app/gstappsink.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "background.h"
#include "camera.h"
#include "batches/batch.h"
#include "batches/failure.h"
#include "sources.h"

namespace {

constexpr guint kTick = 100;     // milliseconds
constexpr double kReport = 2.0;  // seconds

using Cameras = std::vector<std::unique_ptr<Camera>>;

/// A thread that takes batches until the sink stops.
class Consumer {
 public:
  Consumer(Pipeline &pipeline, const Cameras &cameras)
      : pipeline_(pipeline), cameras_(cameras), thread_([this] { run(); }) {}
  ~Consumer() { thread_.join(); }

 private:
  void run() try {
    while (GstSample *sample = gst_app_sink_pull_sample(GST_APP_SINK(pipeline_.sink))) take(sample);
  } catch (const std::exception &error) {
    GST_ELEMENT_ERROR(pipeline_.sink, LIBRARY, FAILED, ("%s", error.what()), (nullptr));
  }

  void take(GstSample *sample) {
    const GstClockTime begin = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    if (GST_CLOCK_TIME_IS_VALID(begin)) pipeline_.position = begin;
    const Batch batch(sample, stream_);
    const std::vector<float> results = infer(batch.dlpack());
    const GstClockTime now = gst_element_get_current_running_time(pipeline_.pipeline);
    GstCudaTensorSlot slot;
    for (guint i = 0; gst_cuda_tensor_get_slot(batch.tensor(), i, &slot); ++i)
      if (slot.valid)
        cameras_[i]->count(now > slot.running_time ? now - slot.running_time : 0, results[i]);
  }

  /// Returns a result for each slot, here the center pixel of the first channel. Queue your network
  /// on stream_.
  std::vector<float> infer(const DLTensor &batch) { return center_pixels(batch, stream_); }

  Stream stream_;
  Pipeline &pipeline_;
  const Cameras &cameras_;
  std::thread thread_;
};

struct Application {
  Pipeline pipeline;
  Cameras cameras;
  GMainLoop *loop;
  std::string failure = {};
  guint frames = 0;
  gint64 reported = g_get_monotonic_time();
};

gboolean on_message(GstBus *, GstMessage *message, Application *app) {
  const bool is_error = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
  const std::string missing = missing_plugin(message);
  if (!is_error && missing.empty()) return G_SOURCE_CONTINUE;
  GstObject *const source = GST_MESSAGE_SRC(message);
  g_autoptr(GError) error = nullptr;
  if (is_error) gst_message_parse_error(message, &error, nullptr);
  const auto camera = std::find_if(app->cameras.begin(), app->cameras.end(),
                                   [&](const auto &each) { return each->owns(source); });
  if (camera != app->cameras.end()) {
    is_error ? (*camera)->fail(error) : (*camera)->lacks(missing);
  } else if (is_error && gst_object_has_as_ancestor(source, GST_OBJECT(app->pipeline.pipeline))) {
    app->failure = error->message;  // not from a camera that is already disconnected
    g_main_loop_quit(app->loop);
  }
  return G_SOURCE_CONTINUE;
}

gboolean on_tick(Application *app) {
  for (const auto &camera : app->cameras) camera->tend();
  const gint64 now = g_get_monotonic_time();
  const double seconds = 1e-6 * static_cast<double>(now - app->reported);
  if (seconds < kReport) return G_SOURCE_CONTINUE;
  app->reported = now;
  guint frames = 0;
  for (const auto &camera : app->cameras) frames += camera->report(seconds);
  std::fflush(stdout);
  app->frames += frames;
  const bool over = std::all_of(app->cameras.begin(), app->cameras.end(),
                                [](const auto &camera) { return camera->is_over(); });
  if (over && frames == 0) g_main_loop_quit(app->loop);
  return G_SOURCE_CONTINUE;
}

struct Options {
  const gchar *tensor = "width=640 height=640 resize-mode=ultralytics";
  gboolean loops = FALSE;
  gint rtsp_latency = 200;
  gchar **sources = nullptr;
};

/// Returns whether there was no failure.
bool run(const Options &options) {
  std::vector<std::string> uris;
  for (gchar **source = options.sources; *source != nullptr; ++source)
    uris.push_back(uri_of(*source));
  GError *error = nullptr;
  const std::string description = std::string("cudatensormux name=mux interlaced=as-progressive ") +
                                  options.tensor + " ! " + kTensors +
                                  " ! appsink name=sink async=false sync=false max-buffers=2";
  g_autoptr(GstElement) pipeline = gst_parse_launch(description.c_str(), &error);
  if (error != nullptr) fail("cannot create the pipeline", error);
  // GPU memory is then valid in this application's CUDA code. Fails if there is no CUDA.
  gst_cuda_tensor_share_primary_context(pipeline, 0, nullptr);
  g_autoptr(GstElement) mux = gst_bin_get_by_name(GST_BIN(pipeline), "mux");
  g_object_set(mux, "batch-size", g_strv_length(options.sources), nullptr);
  Camera::absorb_ends(mux);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GMainLoop) loop = g_main_loop_new(nullptr, FALSE);
  Application app = {{pipeline, mux, sink, static_cast<guint>(options.rtsp_latency)}, {}, loop};
  // Started before cameras are added, so that a camera that fails at once does not keep the others
  // from starting.
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < uris.size(); ++i)
    app.cameras.push_back(std::make_unique<Camera>(app.pipeline, i, uris[i], options.loops));
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_bus_add_watch(bus, reinterpret_cast<GstBusFunc>(on_message), &app);
  const auto quit = [](gpointer loop) -> gboolean {
    g_main_loop_quit(static_cast<GMainLoop *>(loop));
    return G_SOURCE_REMOVE;  // a second signal ends the program
  };
  for (const int signal : {SIGINT, SIGTERM}) g_unix_signal_add(signal, quit, loop);
  g_timeout_add(kTick, reinterpret_cast<GSourceFunc>(on_tick), &app);
  {
    const Consumer consumer(app.pipeline, app.cameras);
    g_main_loop_run(loop);
    for (const auto &camera : app.cameras) camera->stop();
    gst_element_set_state(pipeline, GST_STATE_NULL);  // ends the consumer
  }
  for (const auto &camera : app.cameras) app.frames += camera->report(kReport);
  std::printf("%u frames\n", app.frames);
  std::vector<std::string> failures;
  if (!app.failure.empty()) failures.push_back(app.failure);
  bool blocked = false;
  for (const auto &camera : app.cameras) {
    if (!camera->failure().empty()) failures.push_back(camera->failure());
    blocked = blocked || camera->is_blocked();
  }
  for (const std::string &failure : failures)
    std::fprintf(stderr, "multicam: %s\n", failure.c_str());
  if (blocked) leave(failures.empty() ? 0 : 1);
  return failures.empty();
}

}  // namespace

int main(int argc, char **argv) try {
  Options options;
  const GOptionEntry entries[] = {
      {"tensor", 't', 0, G_OPTION_ARG_STRING, &options.tensor,
       "Properties of cudatensormux, for example \"width=640 height=640\"", "TEXT"},
      {"loop", 'l', 0, G_OPTION_ARG_NONE, &options.loops, "Repeat files when they end", nullptr},
      {"rtsp-latency", 0, 0, G_OPTION_ARG_INT, &options.rtsp_latency,
       "Maximum delay of packets of RTSP cameras (200)", "MILLISECONDS"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.sources, nullptr, "URI..."},
      {}};
  g_autoptr(GOptionContext) context = g_option_context_new("- combine many cameras into one batch");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  GError *error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error))
    fail("cannot parse the options", error);
  g_auto(GStrv) sources = options.sources;
  if (sources == nullptr) fail("give at least one URI or file");
  if (options.rtsp_latency < 0) fail("--rtsp-latency must not be negative");
  return run(options) ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "multicam: %s\n", failure.what());
  return 1;
}
