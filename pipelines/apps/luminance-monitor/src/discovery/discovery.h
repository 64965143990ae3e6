// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the ONVIF cameras of the networks that the machine is in.
#pragma once

#include <string>
#include <vector>

#include "discovery/probe.h"

namespace luminance {

struct Discovered {
  std::vector<OnvifDevice> devices;   // each once, sorted by name
  std::vector<std::string> failures;  // interfaces that could not be used, and why
};

/// Sends probes, and listens for so many seconds. `address`: HOST:PORT, to which alone probes are
/// sent; empty: the multicast group of WS-Discovery on each interface with an IPv4 address. Throws
/// std::runtime_error if no probe could be sent.
Discovered discover(double seconds, const std::string &address);

}  // namespace luminance
