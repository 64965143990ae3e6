// SPDX-License-Identifier: LGPL-2.1-or-later
// The server that a URI refers to, and the redirects that are allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "settings/settings.h"

namespace luminance {

struct Peer {
  std::string scheme;  // "rtsp" for all of its transports
  std::string host;    // in lower case
  uint16_t port;

  bool operator==(const Peer &other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
  std::string text() const;  // "host:port"
};

/// Returns the server of a URI; empty if it has none to connect to: a file, a device, UDP.
std::optional<Peer> peer_of(const std::string &uri);

/// Returns `uri`, with the scheme, host and port of `base` if that is another server.
std::string at_host_of(const std::string &uri, const std::string &base);

struct Redirect {
  std::string uri;             // to open, or empty
  std::string refusal;         // why it is not followed
  bool to_the_camera = false;  // then the target may get the user and password
};
/// Resolves a redirect from `from` to `location`. It is allowed to the camera itself, also with
/// TLS, and to the hosts that the user has listed.
Redirect redirect_of(const CameraSettings &camera, const std::string &from,
                     const std::string &location);

}  // namespace luminance
