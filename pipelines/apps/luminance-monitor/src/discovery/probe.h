// SPDX-License-Identifier: LGPL-2.1-or-later
// The messages of WS-Discovery, by which ONVIF cameras are found: a probe, and its answers.
#pragma once

#include <string>
#include <vector>

namespace luminance {

/// What a camera tells about itself. Nothing of it is checked.
struct OnvifDevice {
  std::string endpoint;                // its endpoint reference, which stays the same
  std::string name, hardware;          // from its scopes, or empty
  std::vector<std::string> addresses;  // of its device service
};

/// Returns a probe for cameras. `id`: that of the message, such as "urn:uuid:…".
std::string probe(const std::string &id);

/// Returns the cameras of an answer to the probe with this id; none if the text is anything else.
std::vector<OnvifDevice> devices_in(const std::string &answer, const std::string &id);

}  // namespace luminance
