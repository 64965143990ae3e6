// SPDX-License-Identifier: LGPL-2.1-or-later
// Cameras that were found, for people.
#pragma once

#include <string>
#include <vector>

#include "discovery/probe.h"

namespace luminance {

/// The beginning of a configuration file: the cameras one by one in comments, and tables for them
/// that have to be filled in. Safe to print, whatever the cameras say.
std::string listing_of(const std::vector<OnvifDevice> &devices);

}  // namespace luminance
