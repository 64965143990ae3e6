// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/picture.h"

#include <gst/base/gsttypefindhelper.h>

#include <cstdint>

#include "capture/imagesize.h"

namespace luminance {
namespace {

// Enough for any camera, even with several sensors. Decoders allocate memory for the size that a
// picture claims, and a small file can claim any size.
constexpr uint64_t kMaxPixels = uint64_t{64} << 20;

}  // namespace

PictureFormat format_of(const std::string &picture) {
  g_autoptr(GstCaps) caps = gst_type_find_helper_for_data(
      nullptr, reinterpret_cast<const guint8 *>(picture.data()), picture.size(), nullptr);
  const std::string type =
      caps != nullptr ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
  if (type != "image/jpeg" && type != "image/png")
    return {"", "the camera sends " + (type.empty() ? "unknown data" : type) +
                    ", not a picture (JPEG or PNG)"};
  const uint64_t pixels = pixels_of(picture);
  if (pixels == 0) return {"", kUndecoded};
  if (pixels > kMaxPixels)
    return {"", "the picture has more than " + std::to_string(kMaxPixels >> 20) + " Mi pixels"};
  return {type, ""};
}

}  // namespace luminance
