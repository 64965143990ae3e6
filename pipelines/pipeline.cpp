// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "background.h"

namespace {

constexpr GstClockTime kTick = 200 * GST_MSECOND;
// The names of elements in decoder_of().
constexpr const char *kDecoder = "decoder", *kFrames = "frames";
/// The time in which a pipeline must finish when it is interrupted or stopped.
constexpr gint64 kPatience = 3 * G_USEC_PER_SEC;

volatile std::sig_atomic_t interrupted = 0;

/// Seconds without a frame after which a source counts as failed; 0: no limit.
gint timeout = 15;

/// Makes the first SIGINT or SIGTERM end the pipeline, and the second one the program.
class Interrupts {
 public:
  Interrupts() {
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~Interrupts() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;

 private:
  struct sigaction old_int_, old_term_;
};

/// Set if a thread of GStreamer is blocked, so that the program cannot end in the usual way.
bool blocked = false;

int print_failure(const std::string &text) {
  std::cerr << (g_get_prgname() ? g_get_prgname() : "error") << ": " << text << std::endl;
  return 1;
}

/// Cameras that send JPEG over HTTP have one stream. Without this property, multipartdemux waits
/// for more streams.
void set_up(GstBin *, GstBin *, GstElement *element, gpointer) {
  GstElementFactory *factory = gst_element_get_factory(element);
  if (factory != nullptr && std::strcmp(GST_OBJECT_NAME(factory), "multipartdemux") == 0)
    g_object_set(element, "single-stream", TRUE, nullptr);
}

}  // namespace

Pipeline::Pipeline(const std::string &description) {
  GError *error = nullptr;
  pipeline_.reset(
      gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
  const Ref<GError> owned(error);
  if (pipeline_ == nullptr) throw Failure(error->message);
  g_signal_connect(pipeline_.get(), "deep-element-added", G_CALLBACK(set_up), nullptr);
  decoder_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), kDecoder));
  if (decoder_ == nullptr) return;
  const Ref<GstPad> pad(gst_element_get_static_pad(element(kFrames).get(), "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr);
}

/// Waits for kPatience at most, because a source that waits for data, for example from a pipe,
/// cannot be stopped.
Pipeline::~Pipeline() {
  if (ends_within(set_state_in_background(pipeline_.get(), GST_STATE_NULL), kPatience)) return;
  blocked = true;
  pipeline_.release();
}

Ref<GstElement> Pipeline::element(const char *name) const {
  Ref<GstElement> element(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  if (element == nullptr) throw Failure(std::string("the pipeline has no element ") + name);
  return element;
}

void Pipeline::play(const std::function<void(const GstStructure *)> &on_message,
                    const std::function<void()> &on_tick) {
  const Interrupts interrupts;
  const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  std::string failure = "interrupted before the source was opened";
  // Started in a separate thread, because it may block forever on what a source opens: the writer
  // of a named pipe, or a server. A failure to start is also posted as a message.
  start_ = set_state_in_background(pipeline_.get(), GST_STATE_PLAYING);
  try {
    run(bus.get(), on_message, on_tick);
    if (has_started(kPatience)) return;
  } catch (const Failure &why) {
    if (has_started(kPatience)) throw;
    failure = why.what();
  }
  leave(print_failure(failure));
}

bool Pipeline::has_started(gint64 patience) const { return ends_within(start_, patience); }

void Pipeline::run(GstBus *bus, const std::function<void(const GstStructure *)> &on_message,
                   const std::function<void()> &on_tick) {
  const auto types =
      static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
  gint64 deadline = 0, next_tick = 0;
  while (deadline == 0 || g_get_monotonic_time() < deadline) {
    const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus, kTick, types));
    if (message != nullptr && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) return;
    if (message != nullptr) take(message.get(), on_message);
    if (interrupted && deadline == 0) {
      if (!has_started(0)) return;
      deadline = g_get_monotonic_time() + kPatience;
      const std::shared_ptr<GstElement> kept(GST_ELEMENT(gst_object_ref(pipeline_.get())),
                                             gst_object_unref);
      in_background([kept] { gst_element_send_event(kept.get(), gst_event_new_eos()); });
    }
    if (g_get_monotonic_time() < next_tick) continue;
    next_tick = g_get_monotonic_time() + GST_TIME_AS_USECONDS(kTick);
    if (on_tick) on_tick();
    if (deadline == 0 && decoder_ != nullptr) expect_frames();
  }
}

void Pipeline::take(GstMessage *message,
                    const std::function<void(const GstStructure *)> &on_message) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) fail(message);
  if (const std::string missing = missing_plugin(message); !missing.empty()) missing_ = missing;
  if (on_message) on_message(gst_message_get_structure(message));
}

GstPadProbeReturn Pipeline::on_frame(GstPad *, GstPadProbeInfo *, gpointer self) {
  ++static_cast<Pipeline *>(self)->frames_;
  return GST_PAD_PROBE_OK;
}

/// Throws Failure if no frame comes for too long. Counts ticks instead of time, so that a stopped
/// and continued program does not time out.
void Pipeline::expect_frames() {
  const guint64 frames = frames_;
  silent_ticks_ = frames == seen_frames_ ? silent_ticks_ + 1 : 0;
  seen_frames_ = frames;
  if (timeout > 0 && silent_ticks_ * kTick >= static_cast<guint64>(timeout) * GST_SECOND)
    throw Failure("'" + shown(uri()) + "' has sent no frame for " + std::to_string(timeout) + " s");
}

std::string Pipeline::uri() const {
  gchar *uri = nullptr;
  g_object_get(decoder_.get(), "uri", &uri, nullptr);
  return uri != nullptr ? Ref<gchar>(uri).get() : "";
}

void Pipeline::fail(GstMessage *message) const {
  GError *error = nullptr;
  gchar *debug = nullptr;
  gst_message_parse_error(message, &error, &debug);
  const Ref<GError> owned_error(error);
  const Ref<gchar> owned_debug(debug);
  const std::string uri = decoder_ != nullptr ? this->uri() : "";
  const std::string cause = cause_of(error, missing_, uri);
  std::string text = cause;
  if (cause != missing_) text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + text;
  if (cause != missing_ && debug != nullptr) text += "\n" + without_password(debug, uri);
  throw Failure(decoder_ != nullptr ? "'" + shown(uri) + "': " + text : text);
}

std::string decoder_of(const std::string &source) {
  // With narrower caps, uridecodebin would reject decoders whose pad templates have additional
  // caps.
  return std::string("uridecodebin name=") + kDecoder + " uri=" + quoted(uri_of(source)) +
         " caps=video/x-raw(ANY) expose-all-streams=false ! videoconvert name=" + kFrames +
         " ! deinterlace fields=top";
}

std::string shown_source(const std::string &source) { return shown(uri_of(source)); }

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// Throws Failure if a file cannot be written to `path`. Called before the pipeline plays.
void check_output(const std::string &path) {
  const Ref<gchar> folder(g_path_get_dirname(path.c_str()));
  const auto refuse = [&](const char *why) {
    throw Failure("cannot write '" + path + "': " + why);
  };
  if (g_file_test(path.c_str(), G_FILE_TEST_IS_DIR)) refuse(std::strerror(EISDIR));
  if (access(folder.get(), W_OK | X_OK) != 0) refuse(std::strerror(errno));
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0)
    refuse(std::strerror(errno));
}

std::vector<std::string> parse_command_line(int argc, char **argv, int count, const char *usage,
                                            const GOptionEntry *options) {
  const std::unique_ptr<GOptionContext, decltype(&g_option_context_free)> context(
      g_option_context_new(usage), g_option_context_free);
  const GOptionEntry shared[] = {
      {"timeout", 't', 0, G_OPTION_ARG_INT, &timeout,
       "Fail if SOURCE sends no frame for this time (15); 0: no limit", "SECONDS"},
      {}};
  g_option_context_add_main_entries(context.get(), shared, nullptr);
  if (options != nullptr) g_option_context_add_main_entries(context.get(), options, nullptr);
  g_option_context_add_group(context.get(), gst_init_get_option_group());
  GError *error = nullptr;
  if (!g_option_context_parse(context.get(), &argc, &argv, &error)) {
    const Ref<GError> owned(error);
    throw Failure(error->message);
  }
  if (timeout < 0) throw Failure("--timeout must not be negative");
  if (argc > count + 1)
    throw Failure(std::string("unexpected argument '") + argv[count + 1] +
                  "'; --help shows the usage");
  if (argc < count + 1) {
    const Ref<gchar> help(g_option_context_get_help(context.get(), TRUE, nullptr));
    throw Failure(help.get());
  }
  return std::vector<std::string>(argv + 1, argv + argc);
}

Arguments parse_with_output(int argc, char **argv, const char *usage, const char *description,
                            const char *name) {
  gchar *output = nullptr;
  const std::string help = std::string(description) + " (" + name + ")";
  const GOptionEntry options[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, help.c_str(), "PNG"}, {}};
  const std::string source = parse_command_line(argc, argv, 1, usage, options)[0];
  const Ref<gchar> owned(output);
  const Arguments arguments = {source, output != nullptr ? output : name};
  check_output(arguments.output);
  return arguments;
}

int run_application(const std::function<void()> &body) {
  int status = 0;
  try {
    body();
  } catch (const std::exception &e) {
    status = print_failure(e.what());
  }
  if (blocked) leave(status);
  return status;
}
