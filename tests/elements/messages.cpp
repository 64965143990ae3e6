// SPDX-License-Identifier: LGPL-2.1-or-later
#include "messages.h"

#include <algorithm>

namespace cudatensor {
namespace {

ElementError parse_error(GstMessage *message) {
  GError *error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const ElementError result = {GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), error->domain,
                               error->code, error->message};
  g_error_free(error);
  return result;
}

}  // namespace

std::vector<MessageRef> Messages::of_type(GstMessageType type) {
  while (GstMessage *message = gst_bus_pop(bus_.get())) waiting_.emplace_back(message);
  std::vector<MessageRef> taken, left;
  for (MessageRef &message : waiting_)
    (GST_MESSAGE_TYPE(message.get()) == type ? taken : left).push_back(std::move(message));
  waiting_ = std::move(left);
  return taken;
}

std::vector<ElementError> Messages::errors() {
  std::vector<ElementError> errors;
  for (const MessageRef &message : of_type(GST_MESSAGE_ERROR))
    errors.push_back(parse_error(message.get()));
  return errors;
}

std::vector<std::string> Messages::warnings() {
  std::vector<std::string> texts;
  for (const MessageRef &message : of_type(GST_MESSAGE_WARNING)) {
    GError *warning = nullptr;
    gst_message_parse_warning(message.get(), &warning, nullptr);
    texts.emplace_back(warning->message);
    g_error_free(warning);
  }
  return texts;
}

size_t Messages::count(const char *name) const {
  return static_cast<size_t>(std::count_if(
      waiting_.begin(), waiting_.end(),
      [name](const MessageRef &message) { return gst_message_has_name(message.get(), name); }));
}

bool Messages::receive(GstClockTime timeout) {
  GstMessage *message = gst_bus_timed_pop(bus_.get(), timeout);
  if (message == nullptr) return false;
  waiting_.emplace_back(message);
  return true;
}

std::vector<MessageRef> Messages::elements(const char *name, size_t expected, gulong patience) {
  const gint64 end = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;
  while (receive(0)) {
  }
  while (count(name) < expected && g_get_monotonic_time() < end) receive(10 * GST_MSECOND);
  g_usleep(patience);
  std::vector<MessageRef> messages;
  for (MessageRef &message : of_type(GST_MESSAGE_ELEMENT))
    if (gst_message_has_name(message.get(), name)) messages.push_back(std::move(message));
  return messages;
}

WarningLog::WarningLog() {
  gst_debug_set_active(TRUE);
  gst_debug_set_threshold_for_name("cuda*", GST_LEVEL_WARNING);
  if (g_getenv("GST_DEBUG") == nullptr) gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(add, this, nullptr);
}

WarningLog::~WarningLog() { gst_debug_remove_log_function_by_data(this); }

void WarningLog::add(GstDebugCategory *category, GstDebugLevel level, const gchar *, const gchar *,
                     gint, GObject *, GstDebugMessage *message, gpointer self) {
  const bool ours = g_str_has_prefix(gst_debug_category_get_name(category), "cuda");
  if (!ours || level > GST_LEVEL_WARNING) return;
  auto *log = static_cast<WarningLog *>(self);
  const std::lock_guard<std::mutex> lock(log->mutex_);
  log->text_ += std::string(gst_debug_message_get(message)) + "\n";
}

std::string WarningLog::text() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return text_;
}

GObjectWarnings::GObjectWarnings()
    : fatal_(g_log_set_always_fatal(static_cast<GLogLevelFlags>(G_LOG_FATAL_MASK))) {
  const auto count = [](const gchar *, GLogLevelFlags, const gchar *, gpointer self) {
    ++static_cast<GObjectWarnings *>(self)->count_;
  };
  const auto levels = static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL);
  handler_ = g_log_set_handler("GLib-GObject", levels, count, this);
}

GObjectWarnings::~GObjectWarnings() {
  g_log_remove_handler("GLib-GObject", handler_);
  g_log_set_always_fatal(fatal_);
}

}  // namespace cudatensor
