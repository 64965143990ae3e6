// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture of a pipeline as a small JPEG.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// Of at most 320 pixels' width, with the picture's shape. Null where it cannot be made; the caller
/// owns it. Any thread; takes some milliseconds.
GBytes *jpeg_of(GstSample *sample);

}  // namespace luminance
