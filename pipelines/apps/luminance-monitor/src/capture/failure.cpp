// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/failure.h"

#include <gst/rtsp/gstrtspdefs.h>

#include <algorithm>
#include <cstdio>

#include "capture/rtspguard.h"

namespace luminance {
namespace {

struct Error {
  std::string message, detail;  // detail: the last line of the debug text
  guint http = 0, rtsp = 0;     // status codes
  std::string reason;           // of the status
  bool is_of_source = false;    // whether the element that opens the camera reports it
};

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

/// Returns the last line of a debug text; empty if it only names a place in GStreamer's sources.
std::string last_line(const gchar *debug) {
  const std::string text = debug != nullptr ? debug : "";
  const size_t line = text.rfind('\n');
  if (line == std::string::npos || has(text.substr(line), "(): /")) return "";
  return text.substr(line + 1);
}

/// Whether GstRTSPConnection has refused a message that exceeds its limit.
bool is_too_long(const Error &error) {
  g_autofree gchar *no_memory = gst_rtsp_strresult(GST_RTSP_ENOMEM);
  return error.is_of_source && has(error.detail, "Could not receive message") &&
         has(error.detail, no_memory);
}

/// Whether the error says nothing about its cause.
bool is_vague(const Error &error) {
  return error.is_of_source && !is_too_long(error) &&
         (has(error.detail, "Failed to connect") ||
          has(error.detail, "streaming stopped, reason error") ||
          has(error.detail, "does not accept Range") ||
          has(error.detail, "Could not receive message") ||
          has(error.detail, "Could not send message"));
}

std::string plain_words(const GError *error, const Error &e) {
  if (has(e.detail, "reason not-linked")) return "no video that can be decoded";
  if (g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) ||
      g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND))
    return "no video that can be decoded" + (e.detail.empty() ? "" : " (" + e.detail + ")");
  if (g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND))
    return "unknown video format";
  if (is_too_long(e))
    return "the camera sends a message of more than " + std::to_string(kMaxRtspMessage >> 20) +
           " MiB";
  if (has(e.message, "text file")) return "the camera sends text, not video";
  // The debug text is meant for developers, but its last line often says what users want to know.
  return e.message + (e.detail.empty() ? "" : " (" + e.detail + ")");
}

Error read(GstMessage *message, const GError *error, const gchar *debug) {
  Error e;
  e.message = error->message;
  e.detail = last_line(debug);
  e.is_of_source = GST_IS_ELEMENT(GST_MESSAGE_SRC(message)) &&
                   (GST_OBJECT_FLAG_IS_SET(GST_MESSAGE_SRC(message), GST_ELEMENT_FLAG_SOURCE));
  const GstStructure *details = nullptr;
  gst_message_parse_error_details(message, &details);
  if (details == nullptr) return e;
  gst_structure_get_uint(details, "http-status-code", &e.http);
  gst_structure_get_uint(details, "rtsp-status-code", &e.rtsp);
  if (const gchar *reason = gst_structure_get_string(details, "rtsp-status-reason"))
    e.reason = reason;
  if (e.http != 0) e.reason = e.message;
  return e;
}

}  // namespace

std::string text_of_status(long code, const std::string &reason, bool has_user, const char *what) {
  const std::string said = " (" + std::to_string(code) + (reason.empty() ? "" : " " + reason) + ")";
  switch (code) {
    case 401: return (has_user ? "wrong user or password" : "authentication required") + said;
    case 403: return "access denied" + said;
    case 404:
    case 410: return what + (" not found" + said);
    case 454: return "session not found" + said;
    default:
      return (code >= 500 ? "the camera reports an error" : "the camera refused the request") +
             said;
  }
}

std::string no_answer_within(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "no response within %g s", seconds);
  return text;
}

Failure failure_of(GstMessage *message, bool has_user) {
  g_autoptr(GError) error = nullptr;
  g_autofree gchar *debug = nullptr;
  gst_message_parse_error(message, &error, &debug);
  const Error e = read(message, error, debug);
  Failure failure;
  const guint code = e.rtsp != 0 ? e.rtsp : e.http;
  failure.is_redirect = e.rtsp == kRtspRedirect || (e.http >= 300 && e.http < 400);
  if (failure.is_redirect) {
    failure.location = e.rtsp != 0 ? e.reason : "";
    failure.text = "redirect without a location";
  } else if (code >= 400) {
    failure.text = text_of_status(code, e.reason, has_user, "stream");
  } else {
    failure.is_vague = is_vague(e);
    failure.text = plain_words(error, e);
  }
  std::replace_if(
      failure.text.begin(), failure.text.end(),
      [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return failure;
}

}  // namespace luminance
