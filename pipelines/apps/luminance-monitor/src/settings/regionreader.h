// SPDX-License-Identifier: LGPL-2.1-or-later
// The region of a camera and its masks in a table of a configuration document.
#pragma once

#include "settings/region.h"
#include "settings/table.h"

namespace luminance {

/// Throws SettingsError.
Region read_region(Table &camera);

}  // namespace luminance
