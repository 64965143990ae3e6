// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks whether a text can be the source of a camera, before anything is opened.
#pragma once

#include <string>

namespace luminance {

/// Throws SettingsError for a URI whose scheme no camera has, or that lacks the host it needs. The
/// error's text contains no part of the URI but the scheme.
void check_scheme(const std::string &uri);

/// Throws SettingsError for the name of a missing file that looks like the address of a camera,
/// such as "10.0.0.5/stream". The error's text does not contain the name.
void check_file_name(const std::string &name, const std::string &folder);

}  // namespace luminance
