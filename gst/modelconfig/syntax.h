// SPDX-License-Identifier: LGPL-2.1-or-later
// The parsers of the files' syntaxes. They throw Error if the text has another syntax or is nested
// too deeply. A parser whose library this build lacks always throws Error.
#pragma once

#include <string>

#include "gst/modelconfig/value.h"

namespace cudatensor::modelconfig {

/// Parses JSON as the standard defines it, in UTF-8, without comments, with nlohmann-json. Of
/// members with the same key, the last one counts.
Value parse_json(const std::string &text);
/// Parses the first document of YAML, with libyaml. Refuses aliases.
Value parse_yaml(const std::string &text);
/// Parses a key file with GKeyFile. The result is a map of groups, which are maps of keys. Quotes
/// are part of a string.
Value parse_key_file(const std::string &text);

}  // namespace cudatensor::modelconfig
