// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits on what a camera can have its pipeline keep. Demuxers, parsers and depayloaders collect
// what they are sent until it is complete, and a camera decides when that is; decoders take memory
// for whatever size a picture says that it has.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// For all elements that a uridecodebin will make. What goes beyond a limit is an error of the
/// element concerned, whose text is for people.
void limit_intake(GstElement *decoder);

}  // namespace luminance
