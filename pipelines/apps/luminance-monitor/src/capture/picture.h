// SPDX-License-Identifier: LGPL-2.1-or-later
// What a picture says of itself that a camera sends in response to a request.
#pragma once

#include <string>

namespace luminance {

struct PictureFormat {
  std::string type;   // "image/jpeg" or "image/png", or
  std::string error;  // why it is none of them, or not to be decoded
};

constexpr const char *kUndecoded = "the picture cannot be decoded";

PictureFormat format_of(const std::string &picture);

}  // namespace luminance
