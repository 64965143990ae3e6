// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of settings, and checks shared by the configuration file and the command line.
#pragma once

#include <string>

#include "settings/settings.h"

namespace luminance {

constexpr size_t kMostCameras = 1024;
constexpr double kMostFps = 1000;
constexpr double kLeastInterval = 0.1, kGreatestInterval = 60;                 // seconds
constexpr double kLeastHistoryInterval = 1, kGreatestHistoryInterval = 86400;  // seconds
constexpr double kLeastRetention = 0.01, kGreatestRetention = 3660;            // days
constexpr double kMostConnections = 10000;

/// Throw SettingsError naming the setting if the value is out of range, or not a whole number.
double checked(const std::string &setting, double value, double least, double greatest);
unsigned checked_whole(const std::string &setting, double value, double least, double greatest);
/// "ADDRESS:PORT", "[IPV6]:PORT", "ADDRESS" or ":PORT", which means all IPv4 addresses.
void read_address(const std::string &text, WebSettings &web);
/// Throws SettingsError if other machines could read without authentication and the settings do not
/// allow that.
void check_that_somebody_is_asked(const WebSettings &web);
void check_backend(const std::string &backend);

}  // namespace luminance
