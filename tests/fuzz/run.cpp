// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run.h"

#include <signal.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace fuzz {
namespace {

std::mutex trace_mutex;
std::string trace;
std::atomic<guint64> current{0};

/// Prints the log. Uses no locks, because the thread that crashed may hold them.
void print_trace() {
  char line[64];
  const int length =
      snprintf(line, sizeof line, "\npipeline %" G_GUINT64_FORMAT ":\n", current.load());
  (void)!write(STDERR_FILENO, line, length);
  (void)!write(STDERR_FILENO, trace.data(), trace.size());
}

void end_by_signal(int number) {
  static const char hang[] = "\nFINDING: the pipeline hangs";
  if (number == SIGALRM) (void)!write(STDERR_FILENO, hang, sizeof hang - 1);
  print_trace();
  signal(SIGABRT, SIG_DFL);
  abort();
}

/// Scrambles the number, so that consecutive pipelines are not similar.
guint64 mixed(guint64 number) {
  number += 0x9e3779b97f4a7c15u;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

void forget(gpointer data, GstMiniObject *) {
  auto *count = static_cast<std::shared_ptr<std::atomic<int>> *>(data);
  --**count;
  delete count;
}

void forget_object(gpointer data, GObject *) { forget(data, nullptr); }

}  // namespace

Random::Random(guint64 number) : generator_(mixed(number)) {}

std::string text(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  gchar *owned = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  const std::string result = owned;
  g_free(owned);
  return result;
}

Run::Run(guint64 number) : random(number), sane(random.one_in(2)), number_(number) {
  const std::lock_guard<std::mutex> lock(trace_mutex);
  current = number;
  trace.clear();
}

Run::~Run() = default;

void Run::say(const std::string &line) {
  const std::lock_guard<std::mutex> lock(trace_mutex);
  trace += "  " + line + "\n";
}

void Run::finding(const std::string &what) {
  const std::lock_guard<std::mutex> lock(trace_mutex);
  ++findings_;
  printf("FINDING: %s\npipeline %" G_GUINT64_FORMAT ":\n%s\n", what.c_str(), number_,
         trace.c_str());
  fflush(stdout);
}

Totals &totals() {
  static auto *all = new Totals;
  return *all;
}

void watch(int seconds) {
  for (const int number : {SIGALRM, SIGABRT, SIGTRAP}) signal(number, end_by_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print_trace);
  alarm(seconds);
}

void stop_watching() {
  alarm(0);
  signal(SIGABRT, SIG_DFL);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(nullptr);
}

void Living::add(GstBuffer *buffer) {
  ++*count_;
  gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(buffer), forget,
                           new std::shared_ptr<std::atomic<int>>(count_));
}

void Living::add(GObject *object) {
  ++*count_;
  g_object_weak_ref(object, forget_object, new std::shared_ptr<std::atomic<int>>(count_));
}

bool is_ours(GstElement *element) {
  const GstElementFactory *factory = gst_element_get_factory(element);
  return factory != nullptr && g_str_has_prefix(GST_OBJECT_NAME(factory), "cuda");
}

std::vector<GstElement *> elements_of(GstElement *bin) {
  std::vector<GstElement *> ours;
  GST_OBJECT_LOCK(bin);
  for (GList *l = g_list_last(GST_BIN_CHILDREN(bin)); l != nullptr; l = l->prev)
    if (is_ours(GST_ELEMENT(l->data))) ours.push_back(GST_ELEMENT(l->data));
  GST_OBJECT_UNLOCK(bin);
  return ours;
}

std::string take_errors(Run &run, GstBus *bus, int attempts) {
  std::string all;
  std::map<GstObject *, int> counts;
  while (GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR)) {
    const Ref<GstMessage> owner(message);
    GError *error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const GstObject *source = GST_MESSAGE_SRC(message);
    all += (all.empty() ? "" : " | ") + text("%s: %s", GST_OBJECT_NAME(source), error->message);
    const bool ours = GST_IS_ELEMENT(source) && is_ours(GST_ELEMENT(source));
    const bool flow = strcmp(error->message, "Internal data stream error.") == 0;
    // Flow errors of the mux, which pushes from its own thread, follow an error that names the
    // cause.
    if (ours && !flow && strlen(error->message) < 12)
      run.finding("an error without a cause: " + all);
    if (ours && ++counts[GST_MESSAGE_SRC(message)] > attempts)
      run.finding("more errors than attempts: " + all);
    g_error_free(error);
    ++totals().errors;
  }
  return all;
}

}  // namespace fuzz
