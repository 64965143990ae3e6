// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/uri.h"

#include <glib.h>

#include <algorithm>

namespace luminance {
namespace {

struct Scheme {
  const char *name, *plain;
  uint16_t port;
};
constexpr Scheme kSchemes[] = {
    {"http", "http", 80},     {"https", "https", 443},  {"rtsp", "rtsp", 554},
    {"rtspt", "rtsp", 554},   {"rtspu", "rtsp", 554},   {"rtsph", "rtsp", 80},
    {"rtsps", "rtsps", 322},  {"rtspst", "rtsps", 322}, {"rtspsu", "rtsps", 322},
    {"rtspsh", "rtsps", 443},
};

constexpr auto kFlags = static_cast<GUriFlags>(G_URI_FLAGS_ENCODED | G_URI_FLAGS_PARSE_RELAXED);

std::string lower(const char *text) {
  g_autofree gchar *low = g_ascii_strdown(text, -1);
  return low;
}

std::string with_port(const std::string &host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// Whether a target is the camera itself: the same host, scheme and port, or the same host by TLS
/// at the same port or the default one of TLS.
bool is_same(const Peer &camera, const Peer &to) {
  if (camera == to) return true;
  return camera.host == to.host && to.scheme == camera.scheme + "s" &&
         (to.port == camera.port || to.port == (to.scheme == "https" ? 443 : 322));
}

bool is_named(const CameraSettings &camera, const Peer &to) {
  const auto &hosts = camera.redirect_hosts;
  return std::any_of(hosts.begin(), hosts.end(), [&](const std::string &host) {
    const std::string name = lower(host.c_str());
    return name == to.host || name == to.text();
  });
}

bool has_its_scheme(const Peer &camera, const Peer &to) {
  return to.scheme == camera.scheme || to.scheme == camera.scheme + "s";
}

/// Returns a URI with the transport of the camera's, which only the scheme of its URI tells.
std::string carried_alike(const std::string &uri, const std::string &camera) {
  const auto scheme_of = [](const std::string &text) { return text.substr(0, text.find(':')); };
  const std::string own = scheme_of(camera);
  if (scheme_of(uri) != "rtsp" || own.rfind("rtsp", 0) != 0 || own.rfind("rtsps", 0) == 0)
    return uri;
  return own + uri.substr(uri.find(':'));
}

}  // namespace

std::string Peer::text() const { return with_port(host, port); }

std::optional<Peer> peer_of(const std::string &uri) {
  g_autoptr(GUri) parsed = g_uri_parse(uri.c_str(), kFlags, nullptr);
  if (parsed == nullptr || g_uri_get_host(parsed) == nullptr) return {};
  const std::string name = lower(g_uri_get_scheme(parsed));
  for (const Scheme &scheme : kSchemes) {
    if (name != scheme.name) continue;
    const gint port = g_uri_get_port(parsed);
    return Peer{scheme.plain, lower(g_uri_get_host(parsed)),
                port > 0 ? static_cast<uint16_t>(port) : scheme.port};
  }
  return {};
}

std::string at_host_of(const std::string &uri, const std::string &base) {
  const std::optional<Peer> own = peer_of(base), to = peer_of(uri);
  if (!own || !to || *own == *to) return uri;
  g_autoptr(GUri) parsed = g_uri_parse(uri.c_str(), kFlags, nullptr);
  g_autofree gchar *joined =
      g_uri_join(kFlags, own->scheme.c_str(), nullptr, own->host.c_str(), own->port,
                 g_uri_get_path(parsed), g_uri_get_query(parsed), nullptr);
  return joined;
}

Redirect redirect_of(const CameraSettings &camera, const std::string &from,
                     const std::string &location) {
  g_autofree gchar *resolved =
      g_uri_resolve_relative(from.c_str(), location.c_str(), kFlags, nullptr);
  const std::optional<Peer> own = peer_of(camera.uri);
  if (resolved == nullptr || !own) return {"", "redirect to an invalid URI", false};
  const std::optional<Peer> to = peer_of(resolved);
  if (!to || !has_its_scheme(*own, *to)) {
    g_autofree gchar *scheme = g_uri_parse_scheme(resolved);
    return {"",
            "redirect to another protocol (" + std::string(scheme) + ":), which is not followed",
            false};
  }
  const bool is_own = is_same(*own, *to);
  if (!is_own && !is_named(camera, *to))
    return {"",
            "redirect to " + to->text() +
                ", which is not followed; add that host to the camera's redirect-hosts, or use its "
                "address as the camera's URI",
            false};
  return {carried_alike(resolved, camera.uri), "", is_own};
}

}  // namespace luminance
