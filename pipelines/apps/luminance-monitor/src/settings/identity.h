// SPDX-License-Identifier: LGPL-2.1-or-later
// The ids of cameras in the API, the metrics and the history. The id of a camera does not depend on
// its position in the configuration.
#pragma once

#include <string>
#include <vector>

#include "settings/secrets.h"
#include "settings/settings.h"

namespace luminance {

/// Returns an id set by the user in the composed form of Unicode. The text of SettingsError says
/// what is wrong with the id.
std::string checked_id(const std::string &id);

/// A hash of the origin of a camera's video: its displayed location, and the parameters of its
/// query that name a channel. It contains no secrets.
std::string source_of(const SplitUri &shown);

/// Gives each camera its id: the one set by the user, or one made from the letters and digits of
/// its name. If there are none, or other cameras have the same, the source is appended.
/// Throws SettingsError if the id set for one camera is also the id made from another camera's
/// name: that camera would have to get another id.
void identify(std::vector<CameraSettings> &cameras);

/// Returns a warning with the cameras that share a name; empty if there are none. The source is
/// part of their ids, which change when a name begins or ceases to be shared.
std::string shared_names(const std::vector<CameraSettings> &cameras);

}  // namespace luminance
