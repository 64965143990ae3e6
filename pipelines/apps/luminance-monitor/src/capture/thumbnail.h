// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes thumbnails of frames.
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "watch/thumbnail.h"

namespace luminance {

/// Null if the frame cannot be mapped, or its format is not one that is measured. Takes less than a
/// millisecond of a frame of 1080p.
std::shared_ptr<const Thumbnail> thumbnail_of(GstBuffer *buffer, const GstVideoInfo &info);

}  // namespace luminance
