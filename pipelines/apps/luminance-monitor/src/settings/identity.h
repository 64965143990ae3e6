// SPDX-License-Identifier: LGPL-2.1-or-later
// The ids of cameras: their names in the API, in metrics and in the history. A camera keeps its id
// whatever comes before or after it.
#pragma once

#include <string>
#include <vector>

#include "settings/secrets.h"
#include "settings/settings.h"

namespace luminance {

/// An id that the user gave, in Unicode's composed form. Throws SettingsError, whose text is what is
/// wrong with it.
std::string checked_id(const std::string &id);

/// A hash of where a camera's video comes from: its location for people, and what its query says of
/// channels. There are no secrets in it.
std::string source_of(const SplitUri &shown);

/// Gives each camera an id: the one that it is to have, or one of its name's letters and digits.
/// Where there are none of these, or others have the same, its source is added.
void identify(std::vector<CameraSettings> &cameras);

/// What the first version of the program made of a name. It gave `-2` and so on to those that
/// followed.
std::string former_slug_of(const std::string &name);

}  // namespace luminance
