// SPDX-License-Identifier: LGPL-2.1-or-later
// Which elements may be plugged for the data of a camera. A camera chooses its data, and thereby
// which of all installed elements would handle it; only those that decode video and open nothing
// are used.
#pragma once

#include <gst/gst.h>

#include <string>

namespace luminance {

/// `takes_surfaces`: whether frames may be in DeepStream's surfaces.
bool may_autoplug(GstElementFactory *factory, bool takes_surfaces);

/// Why data with these caps is refused, for people; empty if it is not.
std::string autoplug_error(const GstCaps *caps);

}  // namespace luminance
