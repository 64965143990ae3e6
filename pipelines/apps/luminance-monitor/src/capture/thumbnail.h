// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes thumbnails of frames.
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "settings/region.h"
#include "watch/thumbnail.h"

namespace luminance {

/// Of what is judged of the frame: of pixels in holes, nothing is used. Null if the frame cannot be
/// mapped, its format is not one that is measured, or nothing of it is judged. Takes less than a
/// millisecond of a frame of 1080p.
std::shared_ptr<const Thumbnail> thumbnail_of(GstBuffer *buffer, const GstVideoInfo &info,
                                              const Cutout<size_t> &pixels);

}  // namespace luminance
