// SPDX-License-Identifier: LGPL-2.1-or-later
// Configuration files in TOML, read into JSON documents.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace luminance {

/// The file name must end in .toml. Throws SettingsError with the file and, if known, the line.
nlohmann::json read_config_file(const std::string &file);

}  // namespace luminance
