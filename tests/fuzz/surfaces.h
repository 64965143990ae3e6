// SPDX-License-Identifier: LGPL-2.1-or-later
// Random frames in DeepStream's surfaces, in host memory.
#pragma once

#include "frames.h"

namespace fuzz {

bool is_in_surfaces(GstCaps *caps);

/// Returns caps of surfaces, or of batches if `batches`; if `of_yuv420`, only with formats that
/// cudanv12toyuv444 takes.
std::string surface_caps(Run &run, bool of_yuv420, bool batches);

/// Returns random surfaces; null if they would be too large.
Frame random_surfaces(Run &run, GstCaps *caps);

}  // namespace fuzz
