// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.h"

#include <csignal>
#include <cstring>
#include <iostream>

namespace {

constexpr GstClockTime kTick = 200 * GST_MSECOND;
// The names of elements in decoder_of().
constexpr const char *kDecoder = "decoder", *kFrames = "frames";
/// The time in which an interrupted pipeline must finish.
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

std::string uri_of(const std::string &source) {
  if (gst_uri_is_valid(source.c_str())) return source;
  if (!g_file_test(source.c_str(), G_FILE_TEST_EXISTS))
    throw Failure("'" + source +
                  "' does not exist; SOURCE must be a camera device, a file or a URI");
  if (g_file_test(source.c_str(), G_FILE_TEST_IS_DIR))
    throw Failure("'" + source + "' is a directory");
  if (source.rfind("/dev/", 0) == 0) return "v4l2://" + source;
  GError *error = nullptr;
  const Ref<gchar> uri(gst_filename_to_uri(source.c_str(), &error));
  if (uri != nullptr) return uri.get();
  const Ref<GError> owned(error);
  throw Failure(error->message);
}

/// The URI without user name, password and query; for a file, its path.
std::string shown(const std::string &uri) {
  const Ref<gchar> file(g_filename_from_uri(uri.c_str(), nullptr, nullptr));
  if (file != nullptr) return file.get();
  std::string text = uri;
  const size_t begin = text.find("//"), end = text.rfind('@');
  // Up to the last @, because passwords may contain unescaped slashes and @.
  if (begin != std::string::npos && end != std::string::npos && begin < end)
    text.erase(begin + 2, end - begin - 1);
  return text.substr(0, text.find('?'));
}

std::string replaced(std::string text, const std::string &part, const std::string &by) {
  if (part.empty()) return text;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
  return text;
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

Pipeline::~Pipeline() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

Ref<GstElement> Pipeline::element(const char *name) const {
  Ref<GstElement> element(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  if (element == nullptr) throw Failure(std::string("the pipeline has no element ") + name);
  return element;
}

void Pipeline::play(const std::function<void(const GstStructure *)> &on_message,
                    const std::function<void()> &on_tick) {
  const Interrupts interrupts;
  const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  const auto types =
      static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
  gint64 deadline = 0, next_tick = 0;

  // A failure to start is also posted as a message.
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  while (deadline == 0 || g_get_monotonic_time() < deadline) {
    const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), kTick, types));
    if (message != nullptr) {
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) fail(message.get());
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) return;
      if (on_message) on_message(gst_message_get_structure(message.get()));
    }
    if (interrupted && deadline == 0) {
      deadline = g_get_monotonic_time() + kPatience;
      gst_element_send_event(pipeline_.get(), gst_event_new_eos());
    }
    if (g_get_monotonic_time() < next_tick) continue;
    next_tick = g_get_monotonic_time() + GST_TIME_AS_USECONDS(kTick);
    if (on_tick) on_tick();
    if (deadline == 0 && decoder_ != nullptr) expect_frames();
  }
}

GstPadProbeReturn Pipeline::on_frame(GstPad *, GstPadProbeInfo *, gpointer self) {
  ++static_cast<Pipeline *>(self)->frames_;
  return GST_PAD_PROBE_OK;
}

/// Counts ticks instead of time, so that a stopped and continued program does not time out.
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
  std::string text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
  if (debug != nullptr) text += std::string("\n") + debug;
  if (g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN))
    text += "\nOn Debian, the package gstreamer1.0-libav has decoders for most formats";
  if (decoder_ == nullptr) throw Failure(text);
  const std::string uri = this->uri();
  throw Failure("'" + shown(uri) + "': " + replaced(text, uri, shown(uri)));
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
  if (argc != count + 1) {
    const Ref<gchar> help(g_option_context_get_help(context.get(), TRUE, nullptr));
    throw Failure(help.get());
  }
  return std::vector<std::string>(argv + 1, argv + argc);
}

int run_application(const std::function<void()> &body) {
  try {
    body();
    return 0;
  } catch (const std::exception &e) {
    std::cerr << (g_get_prgname() ? g_get_prgname() : "error") << ": " << e.what() << std::endl;
    return 1;
  }
}
