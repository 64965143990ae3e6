// SPDX-License-Identifier: LGPL-2.1-or-later
// What TLS needs, from the user's files.
#pragma once

#include <string>

#include "../settings/settings.h"

namespace luminance {

/// PEM
struct Identity {
  std::string certificate, key;
};

/// Throws SettingsError with the file's name where one cannot be read, or the two do not belong
/// together.
Identity load_identity(const WebSettings &settings);

}  // namespace luminance
