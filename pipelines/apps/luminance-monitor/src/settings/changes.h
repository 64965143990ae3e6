// SPDX-License-Identifier: LGPL-2.1-or-later
// What is different in settings that were read again.
#pragma once

#include <string>
#include <vector>

#include "settings/settings.h"

namespace luminance {

/// Cameras by their ids.
struct CameraChanges {
  std::vector<std::string> added, removed, changed;
  size_t unchanged = 0;
};
CameraChanges camera_changes(const Settings &before, const Settings &after);

/// The names of settings that only a new start takes over, and that are different.
std::vector<std::string> fixed_changes(const Settings &before, const Settings &after);

}  // namespace luminance
