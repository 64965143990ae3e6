// SPDX-License-Identifier: LGPL-2.1-or-later
// The orientation that a file states, where demuxers do not tell all of it.
#pragma once

#include <gst/video/video.h>

#include <string>

namespace cudatensor {

/// How the first video of an MP4, QuickTime or Matroska file must be turned to be seen upright. The
/// identity for other files, and for angles that are no multiple of 90°.
///
/// GStreamer's tag does not tell that of Matroska, nor that of MP4 if the picture is mirrored too.
GstVideoOrientationMethod stored_orientation(const std::string &path);

}  // namespace cudatensor
