// SPDX-License-Identifier: LGPL-2.1-or-later
// Passwords and tokens: where they come from, and that they are not shown.
#pragma once

#include <optional>
#include <string>

#include "settings/settings.h"

namespace luminance {

/// What a URI says of who asks, and the rest. User and password are decoded.
struct SplitUri {
  std::string uri;  // without user and password
  std::string
      location;  // for people: also without query, fragment, and passwords and keys in the path
  std::optional<Credentials> credentials;
};

/// Throws SettingsError where it is none; its text holds nothing of the URI but the location.
SplitUri split_uri(const std::string &uri);

/// Whether it names a password, wherever.
bool holds_password(const SplitUri &split);

/// Replaces each ${NAME} by the environment's variable, encoded for a URI. Throws SettingsError
/// where there is no such variable.
std::string fill_in(const std::string &uri);
/// The same for people: what stands for a variable in the path is "***".
std::string fill_in_host(std::string uri);

/// The variable's value; throws SettingsError naming `setting` where there is none.
std::string secret_from_environment(const std::string &setting, const std::string &variable);
/// The file's text without the line end; throws SettingsError naming `setting` and the file.
std::string secret_from_file(const std::string &setting, const std::string &file);

/// `text`, which comes from elsewhere, without what the camera's URI hides.
std::string without_secrets(std::string text, const CameraSettings &camera);

}  // namespace luminance
