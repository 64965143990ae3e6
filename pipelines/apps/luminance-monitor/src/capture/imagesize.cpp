// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/imagesize.h"

#include <cstddef>

namespace luminance {
namespace {

constexpr unsigned char kStart = 0xd8, kEnd = 0xd9, kScan = 0xda;  // markers of JPEG

uint64_t byte(std::string_view data, size_t at) { return static_cast<unsigned char>(data[at]); }

uint64_t big(std::string_view data, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = at; i < at + bytes; ++i) value = value << 8 | byte(data, i);
  return value;
}

uint64_t little(std::string_view data, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = at + bytes; i-- > at;) value = value << 8 | byte(data, i);
  return value;
}

bool has(std::string_view data, size_t at, std::string_view text) {
  return data.size() >= at + text.size() && data.compare(at, text.size(), text) == 0;
}

bool has_no_length(unsigned char marker) {
  return marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

bool is_frame(unsigned char marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// Reads the first frame header, which it looks for as libjpeg does.
uint64_t pixels_of_jpeg(std::string_view data) {
  for (size_t at = 2;;) {
    at = data.find('\xff', at);
    if (at != std::string_view::npos) at = data.find_first_not_of('\xff', at);
    if (at == std::string_view::npos) return 0;
    const auto marker = static_cast<unsigned char>(data[at++]);
    if (has_no_length(marker)) continue;
    if (marker == kStart || marker == kEnd || marker == kScan || at + 7 > data.size()) return 0;
    if (is_frame(marker)) return big(data, at + 3, 2) * big(data, at + 5, 2);
    at += big(data, at, 2);
  }
}

uint64_t pixels_of_png(std::string_view data) {
  return data.size() >= 24 && has(data, 12, "IHDR") ? big(data, 16, 4) * big(data, 20, 4) : 0;
}

/// Width and height have 14 bits each.
uint64_t pixels_of_vp8(std::string_view data) {
  const bool is_key = data.size() >= 10 && (data[0] & 1) == 0 && has(data, 3, "\x9d\x01\x2a");
  return is_key ? (little(data, 6, 2) & 0x3fff) * (little(data, 8, 2) & 0x3fff) : 0;
}

uint64_t pixels_of_webp(std::string_view data) {
  if (data.size() < 30) return 0;
  if (has(data, 12, "VP8 ")) return pixels_of_vp8(data.substr(20));
  if (has(data, 12, "VP8X")) return (little(data, 24, 3) + 1) * (little(data, 27, 3) + 1);
  if (!has(data, 12, "VP8L")) return 0;
  const uint64_t sides = little(data, 21, 4);
  return ((sides & 0x3fff) + 1) * ((sides >> 14 & 0x3fff) + 1);
}

}  // namespace

uint64_t pixels_of(std::string_view picture) {
  if (has(picture, 0, "\xff\xd8")) return pixels_of_jpeg(picture);
  if (has(picture, 0, "\x89PNG")) return pixels_of_png(picture);
  if (has(picture, 0, "RIFF") && has(picture, 8, "WEBP")) return pixels_of_webp(picture);
  return pixels_of_vp8(picture);
}

}  // namespace luminance
