// SPDX-License-Identifier: LGPL-2.1-or-later
// Many cameras to one batch of tensors, which a thread of its own takes as DLPack on its own CUDA
// stream. A camera that fails, ends or falls silent is begun again and disturbs no other.
//
// To make an application of it: the network comes into Consumer::infer().
#include <dlpack/dlpack.h>
#include <glib-unix.h>
#include <gst/app/gstappsink.h>
#include <gstcudatensor.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stream.h"

namespace {

constexpr guint kReport = 2, kSilence = 10, kLongestPause = 30;  // seconds

[[noreturn]] void fail(const std::string &what, GError *error = nullptr) {
  const std::string text = what + (error != nullptr ? std::string(": ") + error->message : "");
  g_clear_error(&error);
  throw std::runtime_error(text);
}

struct Pipeline {
  GstElement *pipeline, *mux, *sink;
  std::atomic<GstClockTime> position{0};  // of the last batch
};

/// Used by the main thread, but for count() and what GStreamer calls.
class Camera {
 public:
  /// A file ends, unless it `loops`.
  Camera(Pipeline &pipeline, guint index, const std::string &uri, bool loops)
      : pipeline_(pipeline), index_(index), uri_(uri), ends_(!loops && uri.rfind("file:", 0) == 0) {
    connect();
  }
  ~Camera() {
    if (retry_ != 0) g_source_remove(retry_);
    if (decoder_ != nullptr) disconnect();
  }

  bool owns(GstObject *object) const {
    return decoder_ != nullptr && gst_object_has_as_ancestor(object, GST_OBJECT(decoder_));
  }

  /// Begins again, each time after a longer pause where no frames come.
  void lose(const std::string &why) {
    pause_ = shown_.exchange(false) ? 1 : std::min(2 * pause_, kLongestPause);
    std::printf("camera %u: lost: %s; again in %u s\n", index_, why.c_str(), pause_);
    disconnect();
    const auto again = [](gpointer self) -> gboolean {
      static_cast<Camera *>(self)->retry_ = 0;
      static_cast<Camera *>(self)->connect();
      return G_SOURCE_REMOVE;
    };
    retry_ = g_timeout_add_seconds(pause_, again, this);
  }

  /// A frame has a result, `age` after it was taken.
  void count(GstClockTime age, float result) {
    shown_ = true;
    ++frames_;
    age_ += age;
    result_ = result;
  }

  /// Returns the frames since the last report.
  guint report(double seconds) {
    const guint frames = frames_.exchange(0);
    const double age = 1e-6 * static_cast<double>(age_.exchange(0));
    std::printf("camera %u: %.1f frames/s", index_, frames / seconds);
    if (frames > 0) std::printf(", %.1f ms old, middle %+.3f", age / frames, result_.load());
    std::puts(decoder_ == nullptr ? ", lost" : ended_ ? ", ended" : "");
    silence_ = frames == 0 && decoder_ != nullptr && !ended_ ? silence_ + seconds : 0.0;
    if (silence_ > kSilence) lose("no frames");
    return frames;
  }

 private:
  void connect() {
    decoder_ = gst_element_factory_make("uridecodebin", nullptr);
    g_autoptr(GstCaps) video = gst_caps_from_string("video/x-raw(ANY)");
    // A camera on its way to PLAYING does not hold up the pipeline.
    g_object_set(decoder_, "uri", uri_.c_str(), "caps", video, "async-handling", TRUE, nullptr);
    // The number of its pad is that of its slot.
    slot_ =
        gst_element_request_pad_simple(pipeline_.mux, ("sink_" + std::to_string(index_)).c_str());
    gst_pad_add_probe(slot_, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, this, nullptr);
    g_signal_connect(decoder_, "pad-added", G_CALLBACK(on_pad), this);
    gst_bin_add(GST_BIN(pipeline_.pipeline), decoder_);
    ended_ = false;
    silence_ = 0.0;
    gst_element_sync_state_with_parent(decoder_);  // what fails comes over the bus
  }

  void disconnect() {
    // The slot first: the camera's thread may wait there for room.
    gst_element_release_request_pad(pipeline_.mux, slot_);
    gst_element_set_state(decoder_, GST_STATE_NULL);
    gst_bin_remove(GST_BIN(pipeline_.pipeline), std::exchange(decoder_, nullptr));
    g_clear_object(&slot_);
  }

  static void on_pad(GstElement *, GstPad *pad, Camera *self) {
    g_autoptr(GstQuery) query = gst_query_new_latency();
    gboolean live = FALSE;
    if (gst_pad_query(pad, query)) gst_query_parse_latency(query, &live, nullptr, nullptr);
    // What is not live begins at 0, and goes on where the others are.
    if (!live) gst_pad_set_offset(pad, static_cast<gint64>(self->pipeline_.position.load()));
    if (!gst_pad_is_linked(self->slot_)) gst_pad_link(pad, self->slot_);
  }

  static GstPadProbeReturn on_event(GstPad *, GstPadProbeInfo *info, gpointer data) {
    auto *self = static_cast<Camera *>(data);
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_EOS) return GST_PAD_PROBE_OK;
    self->ended_ = self->ends_;
    if (self->ends_) return GST_PAD_PROBE_OK;
    GST_ELEMENT_ERROR(self->decoder_, RESOURCE, READ, ("it ended"), (nullptr));
    return GST_PAD_PROBE_DROP;
  }

  Pipeline &pipeline_;
  const guint index_;
  const std::string uri_;
  const bool ends_;
  GstElement *decoder_ = nullptr;  // null while it is lost
  GstPad *slot_ = nullptr;
  std::atomic<bool> ended_{false}, shown_{true};
  guint pause_ = 1, retry_ = 0;
  double silence_ = 0.0;
  // Since the last report.
  std::atomic<guint> frames_{0};
  std::atomic<GstClockTime> age_{0};  // of all
  std::atomic<float> result_{0.0f};   // of the last
};

using Cameras = std::vector<std::unique_ptr<Camera>>;

/// A thread that takes batches until the sink ends or stops.
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
    GError *error = nullptr;
    pipeline_.position = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    g_autoptr(GstCudaTensor) tensor = gst_cuda_tensor_new_from_sample(sample, &error);
    gst_sample_unref(sample);
    if (tensor == nullptr) fail("a batch", error);
    const bool on_gpu = gst_cuda_tensor_get_device(tensor) == GST_CUDA_TENSOR_CUDA;
    DLManagedTensor *batch = gst_cuda_tensor_to_dlpack(tensor, GST_CUDA_TENSOR_FLAG_NONE,
                                                       on_gpu ? stream_.handle() : nullptr, &error);
    if (batch == nullptr) fail("a batch", error);
    const std::vector<float> results = infer(batch->dl_tensor);
    batch->deleter(batch);  // the memory goes back when the stream has come here
    const GstClockTime now = gst_element_get_current_running_time(pipeline_.pipeline);
    GstCudaTensorSlot slot;
    for (guint i = 0; gst_cuda_tensor_get_slot(tensor, i, &slot); ++i)
      if (slot.valid)
        cameras_[i]->count(now > slot.running_time ? now - slot.running_time : 0, results[i]);
  }

  /// A result for each slot: here the middle of its first channel. Queue the network on stream_.
  std::vector<float> infer(const DLTensor &batch) {
    const int64_t *shape = batch.shape, channel = shape[2] * shape[3];
    std::vector<float> results(static_cast<size_t>(shape[0]));
    const float *middle = static_cast<const float *>(batch.data) + (channel + shape[3]) / 2;
    for (float &result : results) {
      stream_.fetch(&result, middle, sizeof result);
      middle += shape[1] * channel;
    }
    return results;
  }

  Stream stream_;
  Pipeline &pipeline_;
  const Cameras &cameras_;
  std::thread thread_;
};

struct Application {
  Pipeline pipeline;
  Cameras cameras;
  GMainLoop *loop;
  std::string failure;
  guint frames = 0;
  gint64 reported = g_get_monotonic_time();
};

gboolean on_message(GstBus *, GstMessage *message, Application *app) {
  GstObject *const source = GST_MESSAGE_SRC(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) g_main_loop_quit(app->loop);
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR) return G_SOURCE_CONTINUE;
  g_autoptr(GError) error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const auto camera = std::find_if(app->cameras.begin(), app->cameras.end(),
                                   [&](const auto &each) { return each->owns(source); });
  if (camera != app->cameras.end()) {
    (*camera)->lose(error->message);
  } else if (gst_object_has_as_ancestor(source, GST_OBJECT(app->pipeline.pipeline))) {
    app->failure = error->message;  // not of a camera that is lost already
    g_main_loop_quit(app->loop);
  }
  return G_SOURCE_CONTINUE;
}

gboolean on_report(Application *app) {
  const gint64 now = g_get_monotonic_time();
  const double seconds = 1e-6 * static_cast<double>(now - std::exchange(app->reported, now));
  for (const auto &camera : app->cameras) app->frames += camera->report(seconds);
  std::fflush(stdout);
  return G_SOURCE_CONTINUE;
}

void run(const std::string &tensor, bool loops, gchar **sources) {
  GError *error = nullptr;
  const std::string description = "cudatensormux name=mux " + tensor +
                                  " ! appsink name=sink async=false sync=false max-buffers=2";
  g_autoptr(GstElement) pipeline = gst_parse_launch(description.c_str(), &error);
  if (error != nullptr) fail("pipeline", error);
  // Its GPU memory is then that of this application's CUDA code. Where this fails, there is no CUDA.
  gst_cuda_tensor_share_primary_context(pipeline, 0, nullptr);
  g_autoptr(GstElement) mux = gst_bin_get_by_name(GST_BIN(pipeline), "mux");
  g_object_set(mux, "batch-size", g_strv_length(sources), nullptr);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GMainLoop) loop = g_main_loop_new(nullptr, FALSE);
  Application app = {{pipeline, mux, sink}, {}, loop};
  // Before there are cameras: one that fails at once does not keep the others from starting.
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; sources[i] != nullptr; ++i) {
    g_autofree gchar *uri = gst_uri_is_valid(sources[i]) ? g_strdup(sources[i])
                                                         : gst_filename_to_uri(sources[i], &error);
    if (uri == nullptr) fail(sources[i], error);
    app.cameras.push_back(std::make_unique<Camera>(app.pipeline, i, uri, loops));
  }
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_bus_add_watch(bus, reinterpret_cast<GstBusFunc>(on_message), &app);
  for (const int signal : {SIGINT, SIGTERM})
    g_unix_signal_add(
        signal,
        [](gpointer l) -> gboolean {
          g_main_loop_quit(static_cast<GMainLoop *>(l));
          return G_SOURCE_CONTINUE;
        },
        loop);
  g_timeout_add_seconds(kReport, reinterpret_cast<GSourceFunc>(on_report), &app);
  {
    const Consumer consumer(app.pipeline, app.cameras);
    g_main_loop_run(loop);
    gst_element_set_state(pipeline, GST_STATE_NULL);  // which ends the consumer
  }
  on_report(&app);
  app.cameras.clear();
  if (!app.failure.empty()) fail(app.failure);
  std::printf("%u frames\n", app.frames);
}

}  // namespace

int main(int argc, char **argv) try {
  const gchar *tensor = "width=640 height=640 resize-mode=ultralytics";
  gboolean loops = FALSE;
  g_auto(GStrv) sources = nullptr;
  const GOptionEntry entries[] = {
      {"tensor", 't', 0, G_OPTION_ARG_STRING, &tensor, "Properties of cudatensormux", "TEXT"},
      {"loop", 'l', 0, G_OPTION_ARG_NONE, &loops, "Begin files again, as if cameras", nullptr},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &sources, nullptr, "URI..."},
      {}};
  g_autoptr(GOptionContext) context = g_option_context_new("- many cameras to one batch");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  GError *error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) fail("options", error);
  if (sources == nullptr) fail("give at least one URI or file");
  run(tensor, loops, sources);
  return 0;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "multicam: %s\n", failure.what());
  return 1;
}
