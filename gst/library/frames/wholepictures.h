// SPDX-License-Identifier: LGPL-2.1-or-later
// Coded video in whole pictures.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Returns new caps, in which codecs that may come in parts are restricted to whole pictures.
GstCaps *in_whole_pictures(GstCaps *caps);

}  // namespace cudatensor
