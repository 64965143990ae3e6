// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of what the user wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "settings/settings.h"

namespace luminance {

/// Adds what `config` says. Relative files begin at `folder`. Throws SettingsError with the path of
/// the setting, as "cameras[2].verdicts.too-dark.raise".
void read_settings(const nlohmann::json &config, const std::string &folder, Settings &settings);

/// A camera of a device, a file or a URI, named after it, with the rules of all cameras.
CameraSettings camera_of(const std::string &source, const Settings &settings);
/// One more; identify() gives it its id when all are there.
void add_camera(CameraSettings camera, Settings &settings);

/// "too-dark.raise=50", "flicker.enabled=false": all of them at once, in any order.
void set_rules(const std::vector<std::string> &assignments, Rules &rules);

}  // namespace luminance
