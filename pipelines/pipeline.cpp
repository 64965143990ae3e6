// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.h"

#include <csignal>
#include <iostream>

namespace {

constexpr GstClockTime kTick = 200 * GST_MSECOND;
/// How long an interrupted pipeline may take to finish.
constexpr gint64 kPatience = 3 * G_USEC_PER_SEC;

volatile std::sig_atomic_t interrupted = 0;

/// Lets the first SIGINT or SIGTERM end the pipeline, and a second one the program.
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

[[noreturn]] void throw_error(GstMessage *message) {
  GError *error = nullptr;
  gchar *debug = nullptr;
  gst_message_parse_error(message, &error, &debug);
  const Ref<GError> owned_error(error);
  const Ref<gchar> owned_debug(debug);
  std::string text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
  if (debug != nullptr) text += std::string("\n") + debug;
  throw Failure(text);
}

std::string uri_of(const std::string &source) {
  if (gst_uri_is_valid(source.c_str())) return source;
  if (!g_file_test(source.c_str(), G_FILE_TEST_EXISTS))
    throw Failure("there is no '" + source + "'; SOURCE is a camera device, a file or a URI");
  if (g_file_test(source.c_str(), G_FILE_TEST_IS_DIR))
    throw Failure("'" + source + "' is a directory");
  if (source.rfind("/dev/", 0) == 0) return "v4l2://" + source;
  GError *error = nullptr;
  const Ref<gchar> uri(gst_filename_to_uri(source.c_str(), &error));
  if (uri != nullptr) return uri.get();
  const Ref<GError> owned(error);
  throw Failure(error->message);
}

}  // namespace

Pipeline::Pipeline(const std::string &description) {
  GError *error = nullptr;
  pipeline_.reset(
      gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
  const Ref<GError> owned(error);
  if (pipeline_ == nullptr) throw Failure(error->message);
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

  // A failure to start comes as a message, too.
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  while (deadline == 0 || g_get_monotonic_time() < deadline) {
    const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), kTick, types));
    if (message != nullptr) {
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) throw_error(message.get());
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) return;
      if (on_message) on_message(gst_message_get_structure(message.get()));
    }
    if (interrupted && deadline == 0) {
      deadline = g_get_monotonic_time() + kPatience;
      gst_element_send_event(pipeline_.get(), gst_event_new_eos());
    }
    if (on_tick && g_get_monotonic_time() >= next_tick) {
      next_tick = g_get_monotonic_time() + GST_TIME_AS_USECONDS(kTick);
      on_tick();
    }
  }
}

std::string decoder_of(const std::string &source) {
  return "uridecodebin uri=" + quoted(uri_of(source)) +
         " caps=\"video/x-raw; video/x-raw(memory:CUDAMemory)\" expose-all-streams=false";
}

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
  if (options != nullptr) g_option_context_add_main_entries(context.get(), options, nullptr);
  g_option_context_add_group(context.get(), gst_init_get_option_group());
  GError *error = nullptr;
  if (!g_option_context_parse(context.get(), &argc, &argv, &error)) {
    const Ref<GError> owned(error);
    throw Failure(error->message);
  }
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
