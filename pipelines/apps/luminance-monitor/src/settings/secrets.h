// SPDX-License-Identifier: LGPL-2.1-or-later
// Passwords and tokens: reading them, and keeping them out of texts that are shown.
#pragma once

#include <optional>
#include <string>

#include "settings/settings.h"

namespace luminance {

/// A URI without its credentials, and the credentials, decoded.
struct SplitUri {
  std::string uri;  // without user and password
  std::string
      location;  // to be shown: also without query, fragment, and passwords and keys in the path
  std::optional<Credentials> credentials;
};

/// Splits a URI. Throws SettingsError if it is invalid; the error's text contains no part of it.
SplitUri split_uri(const std::string &uri);

/// Whether there is a password, in any part of the URI.
bool has_password(const SplitUri &split);

/// Replaces each ${NAME} by the value of the environment variable, percent-encoded. Throws
/// SettingsError if the variable is not set.
std::string expand_variables(const std::string &uri);
/// The same for texts that are shown: from the path on, "***" replaces each value.
std::string expand_variables_redacted(std::string uri);

/// Returns the value of the variable. Throws SettingsError naming `setting` if it is not set.
std::string secret_from_environment(const std::string &setting, const std::string &variable);
/// Returns the content of the file without final line ends. Throws SettingsError naming `setting`
/// and the file.
std::string secret_from_file(const std::string &setting, const std::string &file);

/// Returns `text`, which comes from another program or a library, without the secrets of the
/// camera's URI.
std::string without_secrets(std::string text, const CameraSettings &camera);

}  // namespace luminance
