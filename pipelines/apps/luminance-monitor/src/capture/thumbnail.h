// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes thumbnails of frames.
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "settings/region.h"
#include "watch/thumbnail.h"

namespace luminance {

/// Returns the thumbnail of the judged part of the frame; pixels in holes are not used. Returns
/// null if the frame cannot be mapped, if its format is not one that is measured, or if nothing of
/// it is judged. Takes less than a millisecond for a frame of 1080p.
std::shared_ptr<const Thumbnail> thumbnail_of(GstBuffer *buffer, const GstVideoInfo &info,
                                              const Cutout<size_t> &pixels);

}  // namespace luminance
