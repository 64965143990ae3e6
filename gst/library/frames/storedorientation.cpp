// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/storedorientation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "gst/library/frames/fields.h"

namespace cudatensor {
namespace {

constexpr auto kUpright = Direction::identity;
constexpr uint64_t kMostIndex = 64 << 20;  // most bytes of an index that are read

/// Bytes in memory.
struct Span {
  const uint8_t *begin, *end;
  uint64_t size() const { return static_cast<uint64_t>(end - begin); }
};

std::vector<uint8_t> read(std::ifstream &file, uint64_t at, uint64_t size) {
  std::vector<uint8_t> bytes(std::min(size, kMostIndex));
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

/// Returns the direction for a matrix whose rows are (a, b) and (c, d), which maps points as row
/// vectors.
Direction direction_of(int a, int b, int c, int d) {
  struct Known {
    int a, b, c, d;
    Direction direction;
  };
  constexpr std::array<Known, 7> kKnown = {{{0, 1, -1, 0, Direction::clockwise},
                                            {-1, 0, 0, -1, Direction::half_turn},
                                            {0, -1, 1, 0, Direction::counterclockwise},
                                            {-1, 0, 0, 1, Direction::horizontal},
                                            {1, 0, 0, -1, Direction::vertical},
                                            {0, 1, 1, 0, Direction::main_diagonal},
                                            {0, -1, -1, 0, Direction::anti_diagonal}}};
  for (const Known &each : kKnown)
    if (a == each.a && b == each.b && c == each.c && d == each.d) return each.direction;
  return kUpright;
}

// ---------------------------------------------------------------------------------------------- MP4

/// Calls `visit(type, content)` for each box until it returns false.
template <class Visit>
void visit_boxes(Span boxes, const Visit &visit) {
  while (boxes.size() >= 8) {
    uint64_t size = big_endian(boxes.begin, 4), head = 8;
    if (size == 1 && boxes.size() >= 16) size = big_endian(boxes.begin + 8, head = 16);
    if (size == 0) size = boxes.size();
    if (size < head || size > boxes.size()) return;
    const std::string type(reinterpret_cast<const char *>(boxes.begin + 4), 4);
    if (!visit(type, Span{boxes.begin + head, boxes.begin + size})) return;
    boxes.begin += size;
  }
}

Span find_box(Span boxes, const char *wanted) {
  Span found = {nullptr, nullptr};
  visit_boxes(boxes, [&](const std::string &type, Span content) {
    if (type != wanted) return true;
    found = content;
    return false;
  });
  return found;
}

bool is_video_track(Span track) {
  const Span handler = find_box(find_box(track, "mdia"), "hdlr");
  return handler.size() >= 12 && std::memcmp(handler.begin + 8, "vide", 4) == 0;
}

/// Returns -1, 0 or 1 for a fixed-point number with 16 fractional bits; 2 for other values.
int unit_of(const uint8_t *at) {
  const auto value = static_cast<int32_t>(big_endian(at, 4));
  return value == 0 ? 0 : value == 1 << 16 ? 1 : value == -(1 << 16) ? -1 : 2;
}

Direction orientation_of_track(Span track) {
  const Span head = find_box(track, "tkhd");
  if (head.size() < 1) return kUpright;
  const uint64_t matrix = head.begin[0] == 1 ? 52 : 40;  // by the version
  if (head.size() < matrix + 36) return kUpright;
  const uint8_t *const m = head.begin + matrix;
  return direction_of(unit_of(m), unit_of(m + 4), unit_of(m + 12), unit_of(m + 16));
}

Direction orientation_of_mp4(std::ifstream &file, uint64_t length) {
  for (uint64_t at = 0; at + 16 <= length;) {
    const std::vector<uint8_t> head = read(file, at, 16);
    if (head.size() < 16) break;
    uint64_t size = big_endian(head.data(), 4);
    if (size == 1) size = big_endian(head.data() + 8, 8);
    if (size == 0) size = length - at;
    if (size < 8 || size > length - at) break;
    at += size;
    if (std::memcmp(head.data() + 4, "moov", 4) != 0) continue;
    const std::vector<uint8_t> index = read(file, at - size + 8, size - 8);
    auto found = kUpright;
    visit_boxes({index.data(), index.data() + index.size()}, [&](const auto &type, Span content) {
      if (type != "trak" || !is_video_track(content)) return true;
      found = orientation_of_track(content);
      return false;
    });
    return found;
  }
  return kUpright;
}

// ----------------------------------------------------------------------------------------- Matroska

struct Element {
  uint64_t id, size;
  int head;
};

/// Reads the head of an element from at least 12 bytes.
Element read_element(const uint8_t *at) {
  int bytes = 1;
  while (bytes < 4 && (at[0] & (0x80 >> (bytes - 1))) == 0) ++bytes;
  const VarInt size = read_varint(at + bytes);
  return {big_endian(at, bytes), size.is_unknown ? UINT64_MAX : size.value, bytes + size.bytes};
}

/// Calls `visit(id, content)` for each element until it returns false.
template <class Visit>
void visit_elements(Span elements, const Visit &visit) {
  while (elements.size() >= 2) {
    std::array<uint8_t, 12> head = {};
    std::memcpy(head.data(), elements.begin, std::min<uint64_t>(head.size(), elements.size()));
    const Element each = read_element(head.data());
    if (each.size > elements.size() || each.size + each.head > elements.size()) return;
    const uint8_t *const content = elements.begin + each.head;
    if (!visit(each.id, Span{content, content + each.size})) return;
    elements.begin = content + each.size;
  }
}

Span find_element(Span elements, uint64_t wanted) {
  Span found = {nullptr, nullptr};
  visit_elements(elements, [&](uint64_t id, Span content) {
    if (id != wanted) return true;
    found = content;
    return false;
  });
  return found;
}

double number_of(Span content) {
  const uint64_t bits = content.size() <= 8 ? big_endian(content.begin, content.size()) : 0;
  if (content.size() == 8) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  const auto low = static_cast<uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &low, sizeof value);
  return content.size() == 4 ? value : 0;
}

/// Returns the direction for a projection. A yaw of 180° mirrors the picture; a pitch of 180° also
/// turns it upside down.
Direction orientation_of_projection(Span projection) {
  constexpr uint64_t kType = 0x7671, kYaw = 0x7673, kPitch = 0x7674, kRoll = 0x7675;
  const Span type = find_element(projection, kType);
  const bool is_rectangle = type.size() <= 8 && big_endian(type.begin, type.size()) == 0;
  const double yaw = number_of(find_element(projection, kYaw));
  const double pitch = number_of(find_element(projection, kPitch));
  const double quarters = number_of(find_element(projection, kRoll)) / 90;
  const bool is_known = (yaw == 0 || std::abs(yaw) == 180) && pitch == 0 &&
                        quarters == std::floor(quarters) && std::abs(quarters) <= 4;
  if (!is_rectangle || !is_known) return kUpright;
  constexpr std::array<int, 4> kCosine = {1, 0, -1, 0}, kSine = {0, 1, 0, -1};
  const int turn = (static_cast<int>(quarters) + 4) % 4;
  const int across = yaw != 0 ? -1 : 1;
  // The roll is counter-clockwise.
  return direction_of(across * kCosine[turn], across * -kSine[turn], kSine[turn], kCosine[turn]);
}

Direction orientation_of_tracks(Span tracks) {
  constexpr uint64_t kTrack = 0xae, kType = 0x83, kVideo = 0xe0, kProjection = 0x7670;
  auto found = kUpright;
  visit_elements(tracks, [&](uint64_t id, Span track) {
    const Span type = find_element(track, kType);
    if (id != kTrack || type.size() < 1 || *(type.end - 1) != 1) return true;
    found = orientation_of_projection(find_element(find_element(track, kVideo), kProjection));
    return false;
  });
  return found;
}

Direction orientation_of_matroska(std::ifstream &file, uint64_t length) {
  constexpr uint64_t kHeader = 0x1a45dfa3, kSegment = 0x18538067, kTracks = 0x1654ae6b;
  constexpr uint64_t kCluster = 0x1f43b675;
  for (uint64_t at = 0; at + 12 <= length;) {
    const std::vector<uint8_t> head = read(file, at, 12);
    if (head.size() < 12) break;
    const Element each = read_element(head.data());
    at += each.head;
    if (at == static_cast<uint64_t>(each.head) && each.id != kHeader) break;
    if (each.id == kSegment) continue;
    if (each.id == kTracks) {
      const std::vector<uint8_t> tracks = read(file, at, each.size);
      return orientation_of_tracks({tracks.data(), tracks.data() + tracks.size()});
    }
    if (each.id == kCluster || each.size > length) break;
    at += each.size;
  }
  return kUpright;
}

}  // namespace

Direction stored_orientation(const std::string &path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return kUpright;  // pipes are read once
  const uint64_t length = std::filesystem::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> head = failed ? std::vector<uint8_t>() : read(file, 0, 16);
  if (head.size() < 16) return kUpright;
  return big_endian(head.data(), 4) == 0x1a45dfa3 ? orientation_of_matroska(file, length)
                                                  : orientation_of_mp4(file, length);
}

}  // namespace cudatensor
