// SPDX-License-Identifier: LGPL-2.1-or-later
// Which elements may be made for what a camera sends. It chooses what it sends, and so which of all
// installed elements would take it: only those that decode video, and open nothing, are here.
#pragma once

#include <gst/gst.h>

#include <string>

namespace luminance {

bool may_plug(GstElementFactory *factory);

/// Why data of this kind is not looked into, for people; empty where it may be.
std::string refusal_of(const GstCaps *caps);

}  // namespace luminance
