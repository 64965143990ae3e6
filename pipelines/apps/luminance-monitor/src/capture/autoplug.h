// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which elements may be plugged for the data of a camera. A camera chooses its data, and
// thereby which of all installed elements would handle it; only elements that decode video and open
// nothing are used.
#pragma once

#include <gst/gst.h>

#include <string>

namespace luminance {

/// Returns whether the element may be plugged. `takes_surfaces`: whether frames may be in
/// DeepStream's surfaces.
bool may_autoplug(GstElementFactory *factory, bool takes_surfaces);

/// Returns why data with these caps is refused, as a text for users; empty if it is not refused.
std::string autoplug_error(const GstCaps *caps);

}  // namespace luminance
