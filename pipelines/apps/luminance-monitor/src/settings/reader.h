// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings from a configuration document and from arguments.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "settings/settings.h"

namespace luminance {

/// Applies `config`. Relative file names start at `folder`. Throws SettingsError with the path of
/// the setting, such as "cameras[2].verdicts.too-dark.raise".
void read_settings(const nlohmann::json &config, const std::string &folder, Settings &settings);

/// Returns a camera for a device, a file or a URI, named after it, with the rules of all cameras.
CameraSettings camera_of(const std::string &source, const Settings &settings);
/// Adds a camera; identify() sets the ids when all cameras have been added.
void add_camera(CameraSettings camera, Settings &settings);

/// Applies assignments such as "too-dark.raise=50", together, so that their order does not matter.
/// They replace the schedules of the verdicts that they name.
void set_rules(const std::vector<std::string> &assignments, Rules &rules, Schedules &schedules);

}  // namespace luminance
