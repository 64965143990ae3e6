// SPDX-License-Identifier: LGPL-2.1-or-later
// Whom a URI asks, and where an answer may lead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "settings/settings.h"

namespace luminance {

struct Peer {
  std::string scheme;  // "rtsp" for all ways to carry it
  std::string host;    // in lower case
  uint16_t port;

  bool operator==(const Peer &other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
  std::string text() const;  // "host:port"
};

/// Empty where it asks nobody over a network connection that can be tried: a file, a device, UDP.
std::optional<Peer> peer_of(const std::string &uri);

/// `uri`, but on the host and port of `base`, where it is an RTSP address of another.
std::string at_host_of(const std::string &uri, const std::string &base);

struct Redirect {
  std::string uri;             // to be opened, or empty
  std::string refusal;         // why not
  bool to_the_camera = false;  // which may have its user and password
};
/// Where the camera's answer leads, `location` being relative to `from`. It is followed to the
/// camera itself, also by TLS, and to the hosts that the user named.
Redirect redirect_of(const CameraSettings &camera, const std::string &from,
                     const std::string &location);

}  // namespace luminance
