// SPDX-License-Identifier: LGPL-2.1-or-later
// The size that a coded picture says that it has, before it is decoded.
#pragma once

#include <cstdint>
#include <string_view>

namespace luminance {

/// Of a JPEG, PNG, WebP, or a key frame of VP8; 0 where it does not say, or is something else.
uint64_t pixels_of(std::string_view picture);

}  // namespace luminance
