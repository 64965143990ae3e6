// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame of a pipeline as a small JPEG.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// At most 320 pixels wide, with the aspect ratio of the picture. Null on failure; owned by the
/// caller. Any thread; takes a few milliseconds.
GBytes *jpeg_of(GstSample *sample);

}  // namespace luminance
