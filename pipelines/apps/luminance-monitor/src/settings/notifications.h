// SPDX-License-Identifier: LGPL-2.1-or-later
// The table [notifications] of a configuration document.
#pragma once

#include <string>

#include "settings/settings.h"
#include "settings/table.h"

namespace luminance {

/// Relative file names start at `folder`. Throws SettingsError; its text contains no secret, and
/// nothing of a URL.
void read_notifications(Table table, const std::string &folder, NotificationSettings &settings);

}  // namespace luminance
