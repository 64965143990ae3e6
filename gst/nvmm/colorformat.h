// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/nvmm/nvbufsurface.h"
#include "kernels/resample.h"

namespace cudatensor::nvmm {

/// What a color format says of a picture besides its size.
struct FormatOfSurface {
  PixelFormat format;
  Colorimetry colorimetry;
};

/// No value if the color format is not supported.
std::optional<FormatOfSurface> format_of(ColorFormat format);

/// The formats in the syntax of caps.
#define CUDATENSOR_NVMM_FORMATS "NV12, NV21, I420, Y444, P010_10LE, RGBA, BGRx, RGB, BGR, GRAY8"

}  // namespace cudatensor::nvmm
