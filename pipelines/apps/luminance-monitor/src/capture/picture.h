// SPDX-License-Identifier: LGPL-2.1-or-later
// Detects the format of a picture that a camera sends in response to a request.
#pragma once

#include <string>

namespace luminance {

struct PictureFormat {
  std::string type;   // "image/jpeg" or "image/png"; empty on error
  std::string error;  // why the picture is neither of them, or must not be decoded
};

constexpr const char *kUndecoded = "the picture cannot be decoded";

PictureFormat format_of(const std::string &picture);

}  // namespace luminance
