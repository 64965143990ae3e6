// SPDX-License-Identifier: LGPL-2.1-or-later
// The ids of cameras in the API, the metrics and the history. The id of a camera does not depend on
// its position in the configuration.
#pragma once

#include <string>
#include <vector>

#include "settings/secrets.h"
#include "settings/settings.h"

namespace luminance {

/// An id set by the user, in the composed form of Unicode. Throws SettingsError whose text says
/// what is wrong with the id.
std::string checked_id(const std::string &id);

/// A hash of the origin of a camera's video: its displayed location, and the parameters of its
/// query that name a channel. It contains no secrets.
std::string source_of(const SplitUri &shown);

/// Gives each camera its id: the one set by the user, or one made from the letters and digits of
/// its name. If there are none, or other cameras have the same, the source is appended.
/// Throws SettingsError where a set id is that of another camera, which is made of its name: it
/// would have to get another one.
void identify(std::vector<CameraSettings> &cameras);

/// For people: which cameras have the same name, so that a place is part of their ids, which change
/// when there is one more of them, or but one. Empty: none.
std::string shared_names(const std::vector<CameraSettings> &cameras);

}  // namespace luminance
