// SPDX-License-Identifier: LGPL-2.1-or-later
// A configuration file, whatever its language, as one kind of document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace luminance {

/// Reads TOML (.toml) or YAML (.yaml, .yml). Throws SettingsError with the file, and the line where
/// it is known.
nlohmann::json read_config_file(const std::string &file);

}  // namespace luminance
