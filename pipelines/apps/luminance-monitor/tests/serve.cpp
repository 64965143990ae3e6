// SPDX-License-Identifier: LGPL-2.1-or-later
// Serves made-up cameras as luminance-monitor does, for tests that need no video. Prints its
// address; ends on SIGTERM, or with the error of the server.
//
// A frame n of camera i has (7 i + n + j) % 97 + 1 pixels of each luma j from 16 to 235. The second
// camera is dark: there its luma is 16 + (j - 16) / 8. The third is frozen: n stays 0. The fourth
// has no frames, the fifth is lost. SIGUSR1 makes the first one dark, too, or light again.
// The first one is too dark below 40 at any time: its rule says 41, but its two periods cover the
// whole day.
#include <glib-unix.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>

#include "web/server.h"

namespace luminance {
namespace {

constexpr guint kPeriod = 200;  // milliseconds
constexpr size_t kFirst = 0, kDark = 1, kFrozen = 2, kSilent = 3, kLost = 4;

/// Returns a name that readers must show as text, although it looks like markup or code.
std::string name_of_camera(size_t camera) {
  constexpr const char *kNames[] = {"Entrance", "<script>document.title = 'run'</script>",
                                    R"("Gate" & 'yard' \ </td>)",
                                    "\xf0\x9f\x93\xb7 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\xae"
                                    "drawkcab",
                                    "no UTF-8: \xff\xfe\x80\tand a tab"};
  return camera < std::size(kNames) ? kNames[camera] : "Camera " + std::to_string(camera);
}

Measurement measure(size_t camera, uint64_t frame, bool is_dark, Time time) {
  Measurement m;
  m.time = time;
  m.stream_time = frame * kPeriod * 1000000;
  m.frames = 1;
  const uint64_t shift = camera == kFrozen ? 0 : frame;
  for (unsigned luma = 16; luma <= 235; ++luma) {
    const uint64_t pixels = (7 * camera + shift + luma) % 97 + 1;
    const unsigned shown = is_dark ? 16 + (luma - 16) / 8 : luma;
    m.bins[shown] += pixels;
  }
  m.pixels = std::accumulate(std::begin(m.bins), std::end(m.bins), uint64_t{0});
  const auto pixels = static_cast<double>(m.pixels);
  m.clipped_low = static_cast<double>(m.bins[16]) / pixels;
  m.clipped_high = static_cast<double>(m.bins[235]) / pixels;
  // Adding the histogram to an empty sum computes the statistics.
  Measurement sum;
  sum.time = time;
  gst_cuda_tensor_histogram_add(&sum, &m);
  return sum;
}

GBytes *make_jpeg() {
  g_autoptr(GstElement) pipeline = gst_parse_launch(
      "videotestsrc num-buffers=1 ! video/x-raw,width=320,height=180 ! jpegenc ! appsink name=out",
      nullptr);
  g_autoptr(GstElement) out = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstSample) sample = gst_app_sink_pull_sample(GST_APP_SINK(out));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  gpointer data = nullptr;
  gsize size = 0;
  gst_buffer_extract_dup(buffer, 0, gst_buffer_get_size(buffer), &data, &size);
  return g_bytes_new_take(data, size);
}

/// Answers at once for the first camera, later for the others.
class MadeUpStills : public Stills {
 public:
  ~MadeUpStills() override { g_bytes_unref(jpeg_); }

  void still(size_t camera, const std::function<void(GBytes *)> &done) override {
    if (camera == kFirst) return done(jpeg_);
    struct Call {
      std::function<void(GBytes *)> done;
      GBytes *jpeg;
    };
    const auto later = [](gpointer data) -> gboolean {
      const std::unique_ptr<Call> call(static_cast<Call *>(data));
      call->done(call->jpeg);
      return G_SOURCE_REMOVE;
    };
    g_timeout_add(50, later,
                  new Call{done, camera == kSilent || camera == kLost ? nullptr : jpeg_});
  }

 private:
  GBytes *const jpeg_ = make_jpeg();
};

struct Options {
  Options() = default;
  Options(const Options &) = delete;
  Options &operator=(const Options &) = delete;
  ~Options() {
    for (gchar *text : {address, basic, token, certificate, key, history}) g_free(text);
  }

  gint cameras = 5, port = 0, max_connections = 512;
  gboolean allow_anonymous = FALSE, trust_forwarded_for = FALSE;
  gchar *address = nullptr, *basic = nullptr, *token = nullptr, *certificate = nullptr,
        *key = nullptr, *history = nullptr;
};

void read_options(int argc, char **argv, Options &o) {
  const GOptionEntry entries[] = {
      {"cameras", 0, 0, G_OPTION_ARG_INT, &o.cameras, "How many", "NUMBER"},
      {"port", 0, 0, G_OPTION_ARG_INT, &o.port, "Where it listens; 0: anywhere", "PORT"},
      {"address", 0, 0, G_OPTION_ARG_STRING, &o.address, "Where it listens", "ADDRESS"},
      {"max-connections", 0, 0, G_OPTION_ARG_INT, &o.max_connections, "At once", "NUMBER"},
      {"basic", 0, 0, G_OPTION_ARG_FILENAME, &o.basic, "Who may read", "USER:PASSWORD"},
      {"token", 0, 0, G_OPTION_ARG_FILENAME, &o.token, "What a program needs", "TOKEN"},
      {"certificate", 0, 0, G_OPTION_ARG_FILENAME, &o.certificate, "PEM", "FILE"},
      {"key", 0, 0, G_OPTION_ARG_FILENAME, &o.key, "PEM", "FILE"},
      {"allow-anonymous", 0, 0, G_OPTION_ARG_NONE, &o.allow_anonymous, "Asks nobody", nullptr},
      {"trust-forwarded-for", 0, 0, G_OPTION_ARG_NONE, &o.trust_forwarded_for, "Is behind a proxy",
       nullptr},
      {"history", 0, 0, G_OPTION_ARG_FILENAME, &o.history, "Keeps one there", "FILE"},
      {}};
  g_autoptr(GOptionContext) context = g_option_context_new("- made-up cameras");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_autoptr(GError) error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) throw SettingsError(error->message);
}

std::string text(const gchar *value) { return value != nullptr ? value : ""; }

void schedule(CameraSettings &camera) {
  constexpr auto kTooDark = static_cast<size_t>(Verdict::kTooDark);
  constexpr unsigned kNoon = 12 * 60;
  camera.rules[kTooDark].raise = 41;
  for (const unsigned from : {0U, kNoon}) {
    Period period;
    period.from = from;
    period.to = kNoon - from;
    period.raise = 40;
    camera.schedules[kTooDark].push_back(period);
  }
}

Settings settings_of(const Options &options) {
  Settings settings;
  for (size_t i = 0; i < static_cast<size_t>(options.cameras); ++i) {
    CameraSettings camera;
    camera.id = "camera-" + std::to_string(i);
    camera.name = name_of_camera(i);
    camera.uri = camera.location = "rtsp://192.0.2.1/" + std::to_string(i);
    camera.credentials = Credentials{"operator", "camera-secret"};
    camera.rules = default_rules();
    for (Rule &rule : camera.rules) rule.hold = std::min(rule.hold, 1.0);
    for (const Verdict verdict : {Verdict::kNoFrames, Verdict::kFrozen}) {
      Rule &rule = camera.rules[static_cast<size_t>(verdict)];
      rule.raise = 2;
      rule.clear = std::min(rule.clear, rule.raise);
    }
    if (i == kFirst) schedule(camera);
    settings.cameras.push_back(camera);
  }
  settings.web.port = static_cast<uint16_t>(options.port);
  if (options.address != nullptr) settings.web.address = options.address;
  settings.web.allow_anonymous = options.allow_anonymous;
  settings.web.trust_forwarded_for = options.trust_forwarded_for;
  settings.web.max_connections = static_cast<unsigned>(options.max_connections);
  const std::string basic = text(options.basic);
  if (const size_t colon = basic.find(':'); colon != std::string::npos)
    settings.web.basic = Credentials{basic.substr(0, colon), basic.substr(colon + 1)};
  settings.web.token = text(options.token);
  settings.web.certificate = text(options.certificate);
  settings.web.key = text(options.key);
  settings.history.file = text(options.history);
  settings.history.interval = 1;
  return settings;
}

class Application {
 public:
  explicit Application(const Settings &settings)
      : monitor_(settings, clock_),
        metrics_(monitor_),
        history_(settings.history.file.empty()
                     ? nullptr
                     : std::make_unique<History>(settings.history, monitor_)),
        server_(settings.web, {monitor_, metrics_, stills_, history_.get()}) {
    monitor_.add(metrics_);
    if (history_ != nullptr) {
      monitor_.add(*history_);
      metrics_.show(*history_);
    }
    monitor_.add(server_);
    if (settings.cameras.size() > kLost)
      monitor_.set_status(kLost, Status::kWaiting, "Could not connect: <b>refused</b> \xff");
  }

  void run() {
    std::printf("Serving %s\n", server_.address().c_str());
    std::fflush(stdout);
    g_autoptr(GMainLoop) loop = g_main_loop_new(nullptr, FALSE);
    const auto quit = [](gpointer loop) -> gboolean {
      g_main_loop_quit(static_cast<GMainLoop *>(loop));
      return G_SOURCE_REMOVE;
    };
    const auto darken = [](gpointer self) -> gboolean {
      auto *application = static_cast<Application *>(self);
      application->is_dark_ = !application->is_dark_;
      return G_SOURCE_CONTINUE;
    };
    const auto tick = [](gpointer self) -> gboolean {
      static_cast<Application *>(self)->tick();
      return G_SOURCE_CONTINUE;
    };
    for (const int signal : {SIGINT, SIGTERM}) g_unix_signal_add(signal, quit, loop);
    g_unix_signal_add(SIGUSR1, darken, this);
    const guint timer = g_timeout_add(kPeriod, tick, this);
    g_main_loop_run(loop);
    g_source_remove(timer);
  }

 private:
  void tick() {
    for (size_t i = 0; i < monitor_.cameras().size(); ++i)
      if (i != kSilent && i != kLost)
        monitor_.take(i, measure(i, frame_, i == kDark || (i == kFirst && is_dark_), clock_.now()));
    ++frame_;
    monitor_.tick();
    if (history_ != nullptr) history_->tick();
  }

  Clock clock_{false};
  Monitor monitor_;
  Metrics metrics_;
  MadeUpStills stills_;
  std::unique_ptr<History> history_;
  Server server_;
  uint64_t frame_ = 0;
  bool is_dark_ = false;
};

}  // namespace
}  // namespace luminance

int main(int argc, char **argv) try {
  signal(SIGXFSZ, SIG_IGN);  // Tests limit the size of its files to simulate a full disk.
  gst_init(nullptr, nullptr);
  luminance::Options options;
  luminance::read_options(argc, argv, options);
  luminance::Application(luminance::settings_of(options)).run();
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "serve: %s\n", error.what());
  return 2;
}
