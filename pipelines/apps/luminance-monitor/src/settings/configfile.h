// SPDX-License-Identifier: LGPL-2.1-or-later
// Configuration files in TOML and YAML, read into JSON documents.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace luminance {

/// Reads TOML (.toml) or YAML (.yaml, .yml). Throws SettingsError with the file and, if known, the
/// line.
nlohmann::json read_config_file(const std::string &file);

}  // namespace luminance
