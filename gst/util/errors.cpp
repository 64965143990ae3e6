// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/errors.h"

#include "gst/util/log.h"

namespace cudatensor {
namespace {

std::string caps_text(GstPad *pad) {
  GstCaps *caps = gst_pad_get_current_caps(pad);
  gchar *owned = gst_caps_to_string(caps);
  const std::string text = std::string(GST_PAD_NAME(pad)) + " caps: " + owned + "\n";
  g_free(owned);
  gst_clear_caps(&caps);
  return text;
}

gboolean append_caps_text(GstElement *, GstPad *pad, gpointer text) {
  *static_cast<std::string *>(text) += caps_text(pad);
  return TRUE;
}

void post_coded(GstElement *element, const CodedError &error, const std::string &where) {
  GST_WARNING_OBJECT(element, "error: %s", error.what());
  gst_element_message_full(element, GST_MESSAGE_ERROR, error.domain(), error.gst_code(),
                           g_strdup(error.what()), g_strdup(where.c_str()), __FILE__, GST_FUNCTION,
                           __LINE__);
}

void post(GstElement *element, const Error &error) {
  std::string where;
  gst_element_foreach_pad(element, append_caps_text, &where);
  if (const auto *coded = dynamic_cast<const CodedError *>(&error))
    return post_coded(element, *coded, where);
  switch (error.code()) {
    case Error::Code::settings:
      GST_ELEMENT_ERROR(element, LIBRARY, SETTINGS, ("%s", error.what()), ("%s", where.c_str()));
      break;
    case Error::Code::input:
    case Error::Code::frame:
      GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s", error.what()), ("%s", where.c_str()));
      break;
    case Error::Code::not_found:
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", error.what()), ("%s", where.c_str()));
      break;
    case Error::Code::out_of_memory:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", error.what()),
                        ("%s", where.c_str()));
      break;
    case Error::Code::device:
      GST_ELEMENT_ERROR(element, RESOURCE, FAILED,
                        ("%s; set the pipeline to NULL and restart it. If the error persists, "
                         "restart the process",
                         error.what()),
                        ("%s", where.c_str()));
      break;
  }
}

}  // namespace

void ErrorReporter::report(const Error &error) {
  if (error.code() == Error::Code::device) fatal_ = true;
  if (!reported_.exchange(true))
    post(element_, error);
  else
    GST_INFO_OBJECT(element_, "consequential error, not posted: %s", error.what());
}

void ErrorReporter::warn(const std::string &text) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!warnings_.insert(text).second) return;
  }
  warn_again(text);
}

void ErrorReporter::warn_again(const std::string &text) {
  GST_ELEMENT_WARNING(element_, STREAM, FORMAT, ("%s", text.c_str()), (nullptr));
}

void ErrorReporter::log(const std::string &text) { GST_INFO_OBJECT(element_, "%s", text.c_str()); }

void ErrorReporter::forget() {
  reported_ = fatal_ = false;
  const std::lock_guard<std::mutex> lock(mutex_);
  warnings_.clear();
}

void ErrorReporter::report_fatal(const Error &error) {
  fatal_ = true;
  report(error);
}

}  // namespace cudatensor
