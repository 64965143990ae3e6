// SPDX-License-Identifier: LGPL-2.1-or-later
// The orientation that a file states. Demuxers do not report all of it.
#pragma once

#include <string>

#include "kernels/orientation.h"

namespace cudatensor {

/// Returns how the first video of an MP4, QuickTime or Matroska file must be turned to be upright;
/// identity for other files, and for angles that are not a multiple of 90°.
///
/// GStreamer has no tag for the orientation in Matroska, nor for that in MP4 if the picture is also
/// mirrored.
Direction stored_orientation(const std::string &path);

}  // namespace cudatensor
