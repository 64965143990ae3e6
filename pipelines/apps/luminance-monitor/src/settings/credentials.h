// SPDX-License-Identifier: LGPL-2.1-or-later
// Credentials of a table: in the configuration itself, in a file or in the environment.
#pragma once

#include <optional>
#include <string>

#include "settings/settings.h"
#include "settings/table.h"

namespace luminance {

/// Returns the value of the setting `name`, or the secret in the file or the variable that the
/// setting NAME-file or NAME-env names. Relative file names start at `folder`.
std::optional<std::string> read_secret(Table &table, const std::string &name,
                                       const std::string &folder);
/// Returns `user` and `password`, if there is a user.
std::optional<Credentials> read_credentials(Table &table, const std::string &folder);

}  // namespace luminance
