// SPDX-License-Identifier: LGPL-2.1-or-later
// The differences between two versions of the settings.
#pragma once

#include <string>
#include <vector>

#include "settings/settings.h"

namespace luminance {

/// Ids of cameras.
struct CameraChanges {
  std::vector<std::string> added, removed;
  std::vector<std::string> changed;  // and must be reconnected
  std::vector<std::string> rules;    // only their rules have changed
  size_t unchanged = 0;
};
CameraChanges camera_changes(const Settings &before, const Settings &after);

bool are_same(const WebhookSettings &a, const WebhookSettings &b);
bool are_same(const MailSettings &a, const MailSettings &b);
bool are_same(const MqttSettings &a, const MqttSettings &b);
bool are_same(const NotificationSettings &a, const NotificationSettings &b);

/// The names of settings that differ and that need a restart.
std::vector<std::string> fixed_changes(const Settings &before, const Settings &after);

}  // namespace luminance
