// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of settings, and checks shared by the configuration file and the command line.
#pragma once

#include <string>

#include "settings/settings.h"

namespace luminance {

constexpr size_t kMaxCameras = 1024;
constexpr double kMaxFps = 1000;
constexpr double kMinSnapshotInterval = 0.2, kMaxSnapshotInterval = 3600;  // seconds
constexpr double kMinInterval = 0.1, kMaxInterval = 60;                    // seconds
constexpr double kMinHistoryInterval = 1, kMaxHistoryInterval = 86400;     // seconds
constexpr double kDiscover = 3, kMinDiscover = 1, kMaxDiscover = 60;       // seconds
constexpr double kMinRetention = 0.01, kMaxRetention = 3660;               // days
constexpr double kMaxHold = 3600;                                          // seconds
constexpr double kMaxConnections = 10000;
constexpr double kMaxAfter = 86400, kMaxSettle = 86400, kMaxGroup = 3600;  // seconds
constexpr double kMaxRemind = 720;                                         // hours
constexpr double kMaxPerHour = 3600;
constexpr size_t kMaxWebhooks = 16, kMaxRecipients = 50;
constexpr size_t kMaxMasks = 16;  // of a camera
constexpr double kMinArea =
    0.001;  // width and height of a region or mask, in shares of the picture

/// Throw SettingsError naming the setting if the value is out of range, or not a whole number.
double checked(const std::string &setting, double value, double min, double max);
unsigned checked_whole(const std::string &setting, double value, double min, double max);
/// Reads "ADDRESS:PORT", "[IPV6]:PORT", "ADDRESS" or ":PORT", which means all IPv4 addresses.
void read_address(const std::string &text, WebSettings &web);
/// Throws SettingsError if other machines could read without authentication and the settings do not
/// allow that.
void require_authentication(const WebSettings &web);
void check_backend(const std::string &backend);

}  // namespace luminance
