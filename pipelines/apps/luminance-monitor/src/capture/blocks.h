// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes blocks of frames.
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "watch/blocks.h"

namespace luminance {

/// The pixels of a frame that blocks are made of: so many columns and lines.
constexpr size_t kBlockColumns = Blocks::kColumns * 16, kBlockLines = Blocks::kRows * 16;

/// Null if the frame cannot be mapped, or its format is not one that is measured.
std::shared_ptr<const Blocks> blocks_of(GstBuffer *buffer, const GstVideoInfo &info);

}  // namespace luminance
