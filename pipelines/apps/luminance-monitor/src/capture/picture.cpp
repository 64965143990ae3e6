// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/picture.h"

#include <gst/base/gsttypefindhelper.h>

#include <cstdint>

namespace luminance {
namespace {

// Of what cameras have, with several sensors, too. Decoders take memory for what a picture says
// that it is, and a small file can say anything.
constexpr uint64_t kMaxPixels = uint64_t{64} << 20;
constexpr unsigned char kStart = 0xd8, kEnd = 0xd9, kScan = 0xda;  // markers of JPEG

uint64_t number(const std::string &data, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = at; i < at + bytes; ++i) value = value << 8 | static_cast<unsigned char>(data[i]);
  return value;
}

bool has_no_length(unsigned char marker) {
  return marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

bool is_frame(unsigned char marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// By the first header of a frame, as libjpeg finds it; 0 where there is none.
uint64_t pixels_of_jpeg(const std::string &data) {
  for (size_t at = 2;;) {
    at = data.find('\xff', at);
    if (at != std::string::npos) at = data.find_first_not_of('\xff', at);
    if (at == std::string::npos) return 0;
    const auto marker = static_cast<unsigned char>(data[at++]);
    if (has_no_length(marker)) continue;
    if (marker == kStart || marker == kEnd || marker == kScan || at + 7 > data.size()) return 0;
    if (is_frame(marker)) return number(data, at + 3, 2) * number(data, at + 5, 2);
    at += number(data, at, 2);
  }
}

uint64_t pixels_of_png(const std::string &data) {
  if (data.size() < 24 || data.compare(12, 4, "IHDR") != 0) return 0;
  return number(data, 16, 4) * number(data, 20, 4);
}

}  // namespace

PictureFormat format_of(const std::string &picture) {
  g_autoptr(GstCaps) caps = gst_type_find_helper_for_data(
      nullptr, reinterpret_cast<const guint8 *>(picture.data()), picture.size(), nullptr);
  const std::string type =
      caps != nullptr ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
  const bool is_jpeg = type == "image/jpeg";
  if (!is_jpeg && type != "image/png")
    return {"", "the camera sends " + (type.empty() ? "something" : type) +
                    ", not a picture (JPEG or PNG)"};
  const uint64_t pixels = is_jpeg ? pixels_of_jpeg(picture) : pixels_of_png(picture);
  if (pixels == 0) return {"", kUndecoded};
  if (pixels > kMaxPixels)
    return {"", "the picture has more than " + std::to_string(kMaxPixels >> 20) + " Mi pixels"};
  return {type, ""};
}

}  // namespace luminance
