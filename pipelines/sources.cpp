// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sources.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace {

constexpr const char *kCamera = "v4l2://";

using Text = std::unique_ptr<gchar, decltype(&g_free)>;

Text owned(gchar *text) { return Text(text, g_free); }

/// Returns the mode of the file. A pipe is not opened, because that waits for its writer.
mode_t check_file(const std::string &path) {
  struct stat file = {};
  const auto refuse = [&](const std::string &why) { throw Failure("'" + path + "' " + why); };
  if (stat(path.c_str(), &file) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      refuse("does not exist; SOURCE must be a camera device, a file or a URI");
    refuse(std::string("cannot be opened: ") + std::strerror(errno));
  }
  if (S_ISDIR(file.st_mode)) refuse("is a directory");
  if (S_ISSOCK(file.st_mode)) refuse("is a socket");
  if (access(path.c_str(), R_OK) != 0)
    refuse(std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISREG(file.st_mode) && file.st_size == 0) refuse("is empty");
  return file.st_mode;
}

/// Returns the Debian package that plays streams of this media type, or sources of this protocol.
const char *package_of(const std::string &kind) {
  for (const char *good :
       {"video/x-vp8", "video/x-vp9", "video/x-matroska", "video/webm", "video/x-dv",
        "video/quicktime", "video/x-msvideo", "video/x-flv", "image/jpeg", "image/png",
        "multipart/x-mixed-replace", "application/x-rtp", "rtsp", "http", "https", "v4l2"})
    if (kind == good) return "gstreamer1.0-plugins-good";
  for (const char *bad : {"video/mpegts", "application/mxf", "video/x-av1", "rtmp", "srt"})
    if (kind == bad) return "gstreamer1.0-plugins-bad";
  if (kind == "application/ogg" || kind == "video/x-theora") return "gstreamer1.0-plugins-base";
  return "gstreamer1.0-libav";
}

/// Returns the media type of a stream without a decoder, or the name of a protocol or an element.
std::string kind_of(const GstStructure *missing) {
  const GValue *detail = gst_structure_get_value(missing, "detail");
  if (detail == nullptr) return "";
  if (G_VALUE_HOLDS_STRING(detail)) return g_value_get_string(detail);
  if (!GST_VALUE_HOLDS_CAPS(detail) || gst_caps_get_size(gst_value_get_caps(detail)) == 0)
    return "";
  return gst_structure_get_name(gst_caps_get_structure(gst_value_get_caps(detail), 0));
}

bool is_file(const std::string &uri) { return uri.rfind("file:", 0) == 0; }

}  // namespace

std::string uri_of(const std::string &source) {
  if (source.empty()) throw Failure("SOURCE is empty; it must be a camera device, a file or a URI");
  if (gst_uri_is_valid(source.c_str())) {
    if (const Text path = owned(g_filename_from_uri(source.c_str(), nullptr, nullptr));
        path != nullptr && is_file(source))
      check_file(path.get());
    return source;
  }
  if (S_ISCHR(check_file(source))) return kCamera + source;
  GError *error = nullptr;
  if (const Text uri = owned(gst_filename_to_uri(source.c_str(), &error)); uri != nullptr)
    return uri.get();
  const std::string why = error->message;
  g_error_free(error);
  throw Failure(why);
}

std::string shown(const std::string &uri) {
  if (const Text file = owned(g_filename_from_uri(uri.c_str(), nullptr, nullptr)); file != nullptr)
    return file.get();
  if (uri.rfind(kCamera, 0) == 0) return uri.substr(std::strlen(kCamera));
  std::string text = uri;
  const size_t begin = text.find("//"), end = text.rfind('@');
  // Erases up to the last @, because passwords may contain unescaped slashes and @.
  if (begin != std::string::npos && end != std::string::npos && begin < end)
    text.erase(begin + 2, end - begin - 1);
  return text.substr(0, text.find('?'));
}

std::string missing_plugin(GstMessage *message) {
  const GstStructure *missing = gst_message_get_structure(message);
  if (missing == nullptr || !gst_structure_has_name(missing, "missing-plugin")) return "";
  const std::string kind = kind_of(missing);
  for (const char *other : {"audio/", "text/", "subpicture/", "closedcaption/", "meta/"})
    if (kind.rfind(other, 0) == 0) return "";
  const gchar *name = gst_structure_get_string(missing, "name");
  return "no " + (name != nullptr ? std::string(name) : "plugin for " + kind) +
         " is installed; on Debian, the package " + package_of(kind) + " has one";
}

bool is_permanent(const std::string &uri, const GError *error) {
  return is_file(uri) || g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) ||
         g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND) ||
         g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND) ||
         g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE);
}

std::string without_password(const std::string &text, const std::string &uri) {
  std::string result = text;
  const std::string by = shown(uri);
  if (uri.empty()) return text;
  for (size_t at = 0; (at = result.find(uri, at)) != std::string::npos; at += by.size())
    result.replace(at, uri.size(), by);
  return result;
}

std::string cause_of(const GError *error, const std::string &missing, const std::string &uri) {
  const bool lacks = g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) ||
                     g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND);
  return lacks && !missing.empty() ? missing : without_password(error->message, uri);
}
