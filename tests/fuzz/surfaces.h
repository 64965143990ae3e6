// SPDX-License-Identifier: LGPL-2.1-or-later
// Random frames in DeepStream's surfaces, in host memory.
#pragma once

#include "frames.h"

namespace fuzz {

bool is_in_surfaces(GstCaps *caps);

/// Caps of surfaces; of batches of them if `batches`. `of_yuv420`: of formats that cudanv12toyuv444
/// takes.
std::string surface_caps(Run &run, bool of_yuv420, bool batches);

/// Null if the surfaces would be too large.
Frame random_surfaces(Run &run, GstCaps *caps);

}  // namespace fuzz
