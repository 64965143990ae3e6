// SPDX-License-Identifier: LGPL-2.1-or-later
// Encodes a frame of a pipeline as a small JPEG.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// Returns a JPEG, at most 320 pixels wide, with the aspect ratio of the picture, or null on
/// failure. The caller owns it. Any thread; takes a few milliseconds.
GBytes *jpeg_of(GstSample *sample);

}  // namespace luminance
