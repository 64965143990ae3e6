// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/truncation.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "gst/library/frames/fields.h"

namespace cudatensor {
namespace {

/// The shortest file of any supported container.
constexpr uint64_t kShortest = std::tuple_size<FileHead>::value;

bool has_text(const FileHead &head, size_t at, const char *text) {
  return std::memcmp(head.data() + at, text, std::strlen(text)) == 0;
}

bool has_type(const FileHead &head, const char *type) { return has_text(head, 4, type); }

/// Returns whether a header has a known box type. Cameras append other bytes to their files, which
/// may look like the length of a box.
bool is_box(const FileHead &head) {
  constexpr std::array<const char *, 14> kTypes = {"ftyp", "mdat", "moov", "moof", "free",
                                                   "skip", "wide", "uuid", "meta", "mfra",
                                                   "sidx", "styp", "pnot", "udta"};
  return std::any_of(kTypes.begin(), kTypes.end(),
                     [&](const char *type) { return has_type(head, type); });
}

/// Returns where the boxes of an MP4 file end; 0 if it does not say. Without an index or pictures,
/// at least another box is missing.
uint64_t end_of_boxes(const ReadHead &read, uint64_t length) {
  constexpr int kMostBoxes = 1 << 16;
  constexpr uint64_t kBoxHead = 8;
  uint64_t at = 0;
  bool has_index = false, has_media = false;
  for (int i = 0; at < length; ++i) {
    FileHead head = {};
    if (i == kMostBoxes || !read(at, head)) return 0;
    uint64_t size = big_endian(head.data(), 4);
    const bool may_begin = length - at >= 4 && size >= kBoxHead && size <= INT32_MAX;
    const bool is_complete = has_index && has_media;
    if (length - at < kBoxHead) return is_complete && !may_begin ? 0 : at + kBoxHead;
    if (size == 1) size = big_endian(head.data() + 8, 8);
    // A size of 0 means the last box, which extends to the end of the file. Bytes after the last
    // box are not a box.
    if (size < kBoxHead || size > UINT64_MAX / 2) return 0;
    if (size > length - at && !is_box(head)) return 0;
    has_index |= has_type(head, "moov") || has_type(head, "moof") || has_type(head, "meta");
    has_media |= has_type(head, "mdat");
    at += size;
  }
  return has_index && has_media ? at : at + kBoxHead;
}

/// Returns where the segment of a Matroska file ends; 0 if it does not say.
uint64_t end_of_segment(const ReadHead &read, const FileHead &first, uint64_t length) {
  constexpr uint64_t kMostHeader = 1 << 16;
  const VarInt header = read_varint(first.data() + 4);
  const uint64_t segment = 4 + header.bytes + header.value;
  FileHead head = {};
  if (header.is_unknown || header.value > kMostHeader) return 0;
  if (segment + head.size() > length) return segment + head.size();
  if (!read(segment, head) || big_endian(head.data(), 4) != 0x18538067) return 0;
  const VarInt size = read_varint(head.data() + 4);
  return size.is_unknown ? 0 : segment + 4 + size.bytes + size.value;
}

/// Returns where the RIFF lists of an AVI file end; large files have more than one. A writer that
/// was stopped leaves a size of 0, and no list follows.
uint64_t end_of_lists(const ReadHead &read, uint64_t length) {
  constexpr uint64_t kListHead = 8;
  uint64_t at = 0;
  FileHead head = {};
  while (at + head.size() <= length && read(at, head) && has_text(head, 0, "RIFF")) {
    const uint64_t size = little_endian(head.data() + 4, 4);
    at += kListHead + size;
  }
  return at;
}

/// Returns where packets of `size` bytes end, whose sync byte is at `offset`; 0 if there are none.
uint64_t end_of_packets(const ReadHead &read, uint64_t length, uint64_t size, uint64_t offset) {
  constexpr uint8_t kSync = 0x47;
  constexpr uint64_t kSeen = 4;
  for (uint64_t at = offset, i = 0; i < kSeen && at < length; ++i, at += size) {
    FileHead head = {};
    if (!read(at, head) || head[0] != kSync) return 0;
  }
  return (length + size - 1) / size * size;
}

/// Returns the length of the file that the script data of FLV states; 0 if it states none.
uint64_t flv_length(const ReadHead &read, uint64_t begin) {
  constexpr int kMostFields = 64;
  uint64_t at = begin;
  for (int i = 0; i < kMostFields; ++i) {
    FileHead name = {}, value = {};
    if (!read(at, name)) return 0;
    const uint64_t bytes = big_endian(name.data(), 2);
    if (!read(at + 2 + bytes, value)) return 0;
    const bool is_number = value[0] == 0, is_flag = value[0] == 1, is_text = value[0] == 2;
    if (is_number && bytes == 8 && has_text(name, 2, "filesize")) {
      double length = 0;
      const uint64_t bits = big_endian(value.data() + 1, 8);
      std::memcpy(&length, &bits, sizeof length);
      return length > 0 && length < 1e18 ? static_cast<uint64_t>(length) : 0;
    }
    if (!is_number && !is_flag && !is_text) return 0;
    at += 2 + bytes + (is_number ? 9 : is_flag ? 2 : 3 + big_endian(value.data() + 1, 2));
  }
  return 0;
}

/// Returns where the tags of FLV end, which is known because a complete file ends with the size of
/// its last tag.
uint64_t end_of_tags(const ReadHead &read, uint64_t length) {
  constexpr uint64_t kFirst = 13, kTagHead = 11, kName = 13, kCount = 5;
  FileHead head = {}, last = {};
  if (!read(kFirst, head)) return 0;
  const bool has_script = head[0] == 18;
  const uint64_t stated = has_script ? flv_length(read, kFirst + kTagHead + kName + kCount) : 0;
  if (stated > length) return stated;
  if (length < kFirst + kTagHead + 4) return kFirst + kTagHead + 4;
  if (!read(length - 4, head)) return 0;
  const uint64_t size = big_endian(head.data(), 4);
  const bool fits = size >= kTagHead && size <= length - 4 - kFirst &&
                    read(length - 4 - size, last) &&
                    big_endian(last.data() + 1, 3) + kTagHead == size;
  return fits ? length : length + 1;
}

/// Returns where the pages of Ogg end. The last page of a complete file is whole and marked as the
/// end.
uint64_t end_of_pages(const ReadHead &read, uint64_t length) {
  constexpr uint64_t kMostPage = 65307, kPageHead = 27, kStep = 11;
  const uint64_t first = length > kMostPage ? length - kMostPage : 0;
  for (uint64_t back = kStep; back < length - first + kStep; back += kStep) {
    const uint64_t at = length > back ? length - back : 0;
    FileHead head = {};
    if (!read(at, head)) return 0;
    for (uint64_t i = kStep; i-- > 0;) {
      if (!has_text(head, i, "OggS") || head[i + 4] != 0) continue;
      FileHead page = {}, sizes = {};
      uint64_t end = at + i + kPageHead;
      if (!read(at + i, page) || !read(end - 1, sizes)) return 0;
      const int segments = sizes[0];
      end += segments;
      for (int k = 0; k < segments; ++k) {
        if (!read(at + i + kPageHead + k, sizes)) return 0;
        end += sizes[0];
      }
      const bool is_last = (page[5] & 4) != 0;
      return is_last || end > length ? end : length + kPageHead;
    }
  }
  return length + kPageHead;
}

}  // namespace

uint64_t stated_length(const ReadHead &read, uint64_t length) {
  FileHead head = {};
  if (length < kShortest) return kShortest;
  if (!read(0, head)) return 0;
  if (has_type(head, "ftyp") || is_box(head)) return end_of_boxes(read, length);
  if (big_endian(head.data(), 4) == 0x1a45dfa3) return end_of_segment(read, head, length);
  if (has_text(head, 0, "RIFF")) return has_text(head, 8, "AVI ") ? end_of_lists(read, length) : 0;
  if (has_text(head, 0, "FLV\1")) return end_of_tags(read, length);
  if (has_text(head, 0, "OggS")) return end_of_pages(read, length);
  const uint64_t packets = end_of_packets(read, length, 188, 0);
  return packets != 0 ? packets : end_of_packets(read, length, 192, 4);
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
  return "it is truncated: expected at least " + std::to_string(end) + " bytes, got " +
         std::to_string(length);
}

}  // namespace cudatensor
