// SPDX-License-Identifier: LGPL-2.1-or-later
// The messages of WS-Discovery, by which ONVIF cameras are found: a probe, and what they answer.
#pragma once

#include <string>
#include <vector>

namespace luminance {

/// What a camera says of itself. All of it is as it came.
struct OnvifDevice {
  std::string endpoint;                // its endpoint reference, which stays the same
  std::string name, hardware;          // of its scopes, or empty
  std::vector<std::string> addresses;  // of its device service
};

/// Asks for cameras. `id`: of the message, such as "urn:uuid:…".
std::string probe(const std::string &id);

/// The cameras of an answer to the probe with this id; none where it is no such answer, whatever
/// it is.
std::vector<OnvifDevice> devices_in(const std::string &answer, const std::string &id);

}  // namespace luminance
