// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits what a camera can make its pipeline keep. Demuxers, parsers and depayloaders collect data
// until it is complete, and a camera decides when that is; decoders allocate memory for whatever
// size a picture claims.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// Limits all elements that a uridecodebin will create. An element that exceeds a limit posts an
/// error, whose text is for users.
void limit_intake(GstElement *decoder);

}  // namespace luminance
