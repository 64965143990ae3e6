// SPDX-License-Identifier: LGPL-2.1-or-later
// The effects of turning a picture upright on its format.
#pragma once

#include <gst/video/video.h>

namespace cudatensor {

/// Returns whether the width of a turned picture is the height of the stored one.
bool swaps_sides(GstVideoOrientationMethod method);

/// Returns the chroma site of a turned picture. GStreamer has no name for chroma at the right or
/// the lower edge of its pixels; the middle is the closest.
GstVideoChromaSite turned_chroma_site(GstVideoChromaSite stored, GstVideoOrientationMethod method);

/// Returns a format among `formats`, caps of raw video, with the same samples as `format`, apart
/// from their order in memory and an unused alpha; GST_VIDEO_FORMAT_UNKNOWN if there is none.
GstVideoFormat find_same_samples(GstVideoFormat format, const GstCaps *formats);

}  // namespace cudatensor
