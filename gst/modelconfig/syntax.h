// SPDX-License-Identifier: LGPL-2.1-or-later
// The syntaxes of files. All functions throw Error if the text has another syntax or is nested too
// deeply; those of a library that this build lacks always throw Error.
#pragma once

#include <string>

#include "gst/modelconfig/value.h"

namespace cudatensor::modelconfig {

/// By nlohmann-json: JSON as the standard has it, in UTF-8, without comments. Of members with the same
/// key, the last counts.
Value parse_json(const std::string &text);
/// The first document, by libyaml. Anchors are refused.
Value parse_yaml(const std::string &text);
/// A map of groups, which are maps of keys, by GKeyFile. Quotes are part of a string.
Value parse_key_file(const std::string &text);

}  // namespace cudatensor::modelconfig
