// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/frames/truncation.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace cudatensor {
namespace {

uint64_t big_endian(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | at[i];
  return number;
}

uint64_t little_endian(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  for (int i = bytes - 1; i >= 0; --i) number = number << 8 | at[i];
  return number;
}

bool has_type(const FileHead &head, const char *type) {
  return std::memcmp(head.data() + 4, type, 4) == 0;
}

/// Cameras append other bytes to their files, which may look like the length of a box.
bool is_box(const FileHead &head) {
  constexpr std::array<const char *, 13> kTypes = {"mdat", "moov", "moof", "free", "skip",
                                                   "wide", "uuid", "meta", "mfra", "sidx",
                                                   "styp", "pnot", "udta"};
  return std::any_of(kTypes.begin(), kTypes.end(),
                     [&](const char *type) { return has_type(head, type); });
}

/// Where the boxes of an MP4 file end; 0 if that is not told.
uint64_t end_of_boxes(const ReadHead &read, uint64_t length) {
  constexpr int kMostBoxes = 1 << 16;
  uint64_t at = 0;
  for (int i = 0; at < length; ++i) {
    FileHead head = {};
    if (i == kMostBoxes || !read(at, head)) return 0;
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
uint64_t end_of_segment(const ReadHead &read, const FileHead &first) {
  const VarInt header = read_varint(first.data() + 4);
  const uint64_t segment = 4 + header.bytes + header.value;
  FileHead head = {};
  if (!read(segment, head) || big_endian(head.data(), 4) != 0x18538067) return 0;
  const VarInt size = read_varint(head.data() + 4);
  return size.is_unknown ? 0 : segment + 4 + size.bytes + size.value;
}

}  // namespace

uint64_t stated_length(const ReadHead &read, uint64_t length) {
  FileHead head = {};
  if (length < head.size() || !read(0, head)) return 0;
  if (has_type(head, "ftyp")) return end_of_boxes(read, length);
  if (big_endian(head.data(), 4) == 0x1a45dfa3) return end_of_segment(read, head);
  const bool is_avi =
      std::memcmp(head.data(), "RIFF", 4) == 0 && std::memcmp(head.data() + 8, "AVI ", 4) == 0;
  // Writers that were stopped leave 0.
  const uint64_t size = is_avi ? little_endian(head.data() + 4, 4) : 0;
  return size > 0 ? 8 + size : 0;
}

std::optional<std::string> find_truncation(const std::string &path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return std::nullopt;  // pipes have no length
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto length = static_cast<std::streamoff>(file.tellg());
  if (length < 0) return std::nullopt;
  const ReadHead read = [&file](uint64_t offset, FileHead &head) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char *>(head.data()), head.size());
    return !file.bad();
  };
  const uint64_t end = stated_length(read, static_cast<uint64_t>(length));
  if (end <= static_cast<uint64_t>(length)) return std::nullopt;
  return "it is truncated: it has " + std::to_string(length) + " bytes of " + std::to_string(end);
}

}  // namespace cudatensor
