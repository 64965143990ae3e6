// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/nvmm/nvbufsurface.h"
#include "kernels/resample.h"

namespace cudatensor::nvmm {

/// The properties of a picture that a color format defines.
struct FormatOfSurface {
  PixelFormat format;
  Colorimetry colorimetry;
};

/// Returns the properties of a color format; no value if it is not supported.
std::optional<FormatOfSurface> format_of(ColorFormat format);

/// The supported formats in the syntax of caps.
#define CUDATENSOR_NVMM_FORMATS "NV12, NV21, I420, Y444, P010_10LE, RGBA, BGRx, RGB, BGR, GRAY8"

}  // namespace cudatensor::nvmm
