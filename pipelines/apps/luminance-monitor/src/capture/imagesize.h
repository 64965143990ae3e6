// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the size that a coded picture claims, before it is decoded.
#pragma once

#include <cstdint>
#include <string_view>

namespace luminance {

/// Returns the number of pixels of a JPEG, PNG, WebP or key frame of VP8; 0 if the picture does not
/// tell, or is something else.
uint64_t pixels_of(std::string_view picture);

}  // namespace luminance
