// SPDX-License-Identifier: LGPL-2.1-or-later
// Lists cameras that were found, for users.
#pragma once

#include <string>
#include <vector>

#include "discovery/probe.h"

namespace luminance {

/// Returns the beginning of a configuration file: the cameras one by one in comments, and tables
/// for them that have to be filled in. It is safe to print, whatever the cameras send.
std::string listing_of(const std::vector<OnvifDevice> &devices);

}  // namespace luminance
