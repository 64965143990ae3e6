// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/truncation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace cudatensor {
namespace {

using Head = std::array<uint8_t, 16>;

/// The bytes at an offset; those behind the end of the file are 0.
Head read_at(std::ifstream &file, uint64_t offset) {
  Head head = {};
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char *>(head.data()), head.size());
  return head;
}

uint64_t big_endian(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | at[i];
  return number;
}

/// Cameras append other bytes to their files, which may look like the length of a box.
bool is_box(const Head &head) {
  constexpr std::array<const char *, 13> kTypes = {"mdat", "moov", "moof", "free", "skip",
                                                   "wide", "uuid", "meta", "mfra", "sidx",
                                                   "styp", "pnot", "udta"};
  return std::any_of(kTypes.begin(), kTypes.end(),
                     [&](const char *type) { return std::memcmp(head.data() + 4, type, 4) == 0; });
}

/// Where the boxes of an MP4 file end; 0 if that is not told.
uint64_t end_of_boxes(std::ifstream &file, uint64_t length) {
  constexpr int kMostBoxes = 1 << 16;
  uint64_t at = 0;
  for (int i = 0; at < length; ++i) {
    if (i == kMostBoxes) return 0;
    const Head head = read_at(file, at);
    uint64_t size = big_endian(head.data(), 4);
    if (size == 1) size = big_endian(head.data() + 8, 8);
    // 0: the last box, to the end of the file. Bytes behind the last box are not one.
    if (size < 8 || size > UINT64_MAX / 2) return 0;
    if (size > length - at && !is_box(head)) return 0;
    at += size;
  }
  return at;
}

/// An integer of EBML, whose first byte tells its length.
struct VarInt {
  uint64_t value;
  int bytes;
  bool is_unknown;
};

VarInt read_varint(const uint8_t *at) {
  int bytes = 1;
  while (bytes < 8 && (at[0] & (0x80 >> (bytes - 1))) == 0) ++bytes;
  const uint64_t all = (uint64_t{1} << (7 * bytes)) - 1;
  const uint64_t value = big_endian(at, bytes) & all;
  return {value, bytes, value == all};
}

/// Where the segment of a Matroska file ends; 0 if that is not told.
uint64_t end_of_segment(std::ifstream &file) {
  const VarInt header = read_varint(read_at(file, 4).data());
  const uint64_t segment = 4 + header.bytes + header.value;
  const Head head = read_at(file, segment);
  if (big_endian(head.data(), 4) != 0x18538067) return 0;
  const VarInt size = read_varint(head.data() + 4);
  return size.is_unknown ? 0 : segment + 4 + size.bytes + size.value;
}

}  // namespace

std::optional<std::string> find_truncation(const std::string &path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return std::nullopt;  // pipes have no length
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto length = static_cast<std::streamoff>(file.tellg());
  if (length < 16) return std::nullopt;
  const Head head = read_at(file, 0);
  uint64_t end = 0;
  if (std::memcmp(head.data() + 4, "ftyp", 4) == 0)
    end = end_of_boxes(file, static_cast<uint64_t>(length));
  else if (big_endian(head.data(), 4) == 0x1a45dfa3)
    end = end_of_segment(file);
  if (end <= static_cast<uint64_t>(length)) return std::nullopt;
  return "it is truncated: it has " + std::to_string(length) + " bytes of " + std::to_string(end);
}

}  // namespace cudatensor
