// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/scheme.h"

#include <glib.h>
#include <gst/gst.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

#include "settings/settings.h"

namespace luminance {
namespace {

// Schemes that are accepted without a plug-in: a configuration may be checked for another machine.
constexpr const char *kUsual[] = {"rtsp", "rtsps", "http", "https", "file", "v4l2"};
constexpr const char *kOthers[] = {"rtspt", "rtspu",    "rtsph", "rtspst", "rtspsu", "rtspsh",
                                   "rtmp",  "rtmps",    "rtmpt", "rtmpe",  "rtp",    "udp",
                                   "srt",   "rist",     "mms",   "mmsh",   "ftp",    "sftp",
                                   "smb",   "rtsp-sdp", "sdp",   "ndi"};
constexpr size_t kAlike = 2;  // maximum number of letters that differ

constexpr auto kFlags = static_cast<GUriFlags>(G_URI_FLAGS_ENCODED | G_URI_FLAGS_PARSE_RELAXED);

template <class Names>
bool is_in(const std::string &name, const Names &names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Whether an installed plug-in supports the scheme.
bool can_be_opened(const std::string &scheme) {
  return gst_init_check(nullptr, nullptr, nullptr) &&
         gst_uri_protocol_is_supported(GST_URI_SRC, scheme.c_str());
}

size_t distance_of(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string suggestion_for(const std::string &scheme) {
  std::string alike;
  for (const char *usual : kUsual)
    if (usual[0] == scheme[0] && distance_of(scheme, usual) <= kAlike)
      alike += (alike.empty() ? "" : " or ") + std::string(usual);
  if (!alike.empty()) return "; did you mean " + alike + "?";
  return "; the address of a camera begins with rtsp://, rtsps://, http:// or https://";
}

/// Whether the scheme is for recorders or cameras in a network.
bool needs_host(const std::string &scheme) {
  for (const char *kind : {"rtsp", "http", "rtmp", "mms"})
    if (g_str_has_prefix(scheme.c_str(), kind)) return scheme != "rtsp-sdp";
  return false;
}

bool is_number(const std::string &text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether a text looks like a host: "10.0.0.5", "10.0.0.5:554", "[fe80::1]", "camera:554",
/// "localhost"; if a path follows, any name with a dot.
bool is_like_host(std::string text, bool has_path) {
  if (text.front() == '[') return true;
  const size_t colon = text.rfind(':');
  const bool has_port = colon != std::string::npos && is_number(text.substr(colon + 1));
  if (has_port) text.erase(colon);
  if (text.empty() || text.find_first_of(" \\") != std::string::npos) return false;
  if (has_port || text == "localhost" || g_hostname_is_ip_address(text.c_str())) return true;
  const size_t dot = text.find('.');
  return has_path && dot != std::string::npos && dot > 0 && dot + 1 < text.size() &&
         text.find("..") == std::string::npos;
}

}  // namespace

void check_scheme(const std::string &uri) {
  const size_t colon = uri.find(':');
  g_autofree gchar *low = g_ascii_strdown(uri.c_str(), static_cast<gssize>(colon));
  const std::string scheme = low;
  if (!is_in(scheme, kUsual) && !is_in(scheme, kOthers) && !can_be_opened(scheme))
    throw SettingsError("unknown scheme '" + scheme + "'" + suggestion_for(scheme));
  g_autoptr(GUri) parsed = g_uri_parse(uri.c_str(), kFlags, nullptr);
  const gchar *host = parsed != nullptr ? g_uri_get_host(parsed) : nullptr;
  const std::string name = host != nullptr ? host : "";
  if (parsed != nullptr && name.empty() && needs_host(scheme))
    throw SettingsError("has no host; write " + scheme + "://HOST/PATH");
  if (name == "HOST" || (parsed != nullptr && std::strcmp(g_uri_get_path(parsed), "/PATH") == 0))
    throw SettingsError(
        "has a placeholder, HOST or PATH; fill in the address of the video, which the camera's "
        "manual, or its own web page, has");
  if (scheme == "file" && !name.empty() && name != "localhost")
    throw SettingsError("has a host; write file:///PATH, with three slashes, for a file");
}

void check_file_name(const std::string &name, const std::string &folder) {
  const size_t slash = name.find('/');
  if (slash == 0 || name.empty()) return;
  std::error_code unknown;
  const std::filesystem::path first = std::filesystem::path(folder) / name.substr(0, slash);
  if (std::filesystem::exists(first, unknown)) return;
  const std::string authority = name.substr(0, slash);
  const std::string host = authority.substr(authority.rfind('@') + 1);
  if (!host.empty() && is_like_host(host, slash != std::string::npos))
    throw SettingsError(
        "is no file, and looks like the address of a camera without a scheme; write rtsp:// or "
        "http:// in front of it");
}

}  // namespace luminance
