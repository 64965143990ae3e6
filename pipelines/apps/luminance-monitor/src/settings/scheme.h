// SPDX-License-Identifier: LGPL-2.1-or-later
// What can be the source of a camera, before anything is opened.
#pragma once

#include <string>

namespace luminance {

/// Throws SettingsError for a URI of a kind that no camera has, or without the host that it needs.
/// Its text contains no part of the URI but the scheme.
void check_scheme(const std::string &uri);

/// Throws SettingsError for a name of a file that is not there and looks like the address of a
/// camera, such as "10.0.0.5/stream". Its text does not contain the name.
void check_file_name(const std::string &name, const std::string &folder);

}  // namespace luminance
