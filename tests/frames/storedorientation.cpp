// SPDX-License-Identifier: LGPL-2.1-or-later
// The orientation in the headers of files that are made byte by byte.
#include "gst/library/frames/storedorientation.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/frames/handmade.h"

namespace cudatensor {
namespace {

Direction direction_in(const Text &content) { return look_at(content, stored_orientation); }

constexpr auto kUpright = Direction::identity;

// ---------------------------------------------------------------------------------------------- MP4

Text box(const char *type, const Text &content) {
  return number(content.size() + 8, 4) + type + content;
}
/// Returns a box with a size of 64 bits.
Text large_box(const char *type, const Text &content) {
  return number(1, 4) + type + number(content.size() + 16, 8) + content;
}

/// Returns the header of a track that is turned by 90°.
Text track_header(int version) {
  Text matrix;
  for (const int each : {0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30})
    matrix += number(static_cast<uint32_t>(each), 4);
  return box("tkhd", number(static_cast<uint64_t>(version), 1) +
                         Text(version == 1 ? 51 : 39, '\0') + matrix + Text(8, '\0'));
}
Text track(const char *handler, const Text &header) {
  return box("trak", header + box("mdia", box("hdlr", Text(8, '\0') + handler + Text(13, '\0'))));
}

const Text kType = box("ftyp", "isomisom");
const Text kUprightTrack = track("vide", box("tkhd", Text(84, '\0')));

TEST(StoredOrientation, ComesFromTheTrackHeaderInBothVersions) {
  for (const int version : {0, 1})
    EXPECT_EQ(direction_in(kType + box("moov", track("vide", track_header(version)))),
              Direction::clockwise)
        << version;
}

TEST(StoredOrientation, IsThatOfTheFirstVideo) {
  const Text turned = track("vide", track_header(0)), sound = track("soun", track_header(0));
  EXPECT_EQ(direction_in(kType + box("moov", sound + kUprightTrack)), kUpright);
  EXPECT_EQ(direction_in(kType + box("moov", sound + turned)), Direction::clockwise);
  EXPECT_EQ(direction_in(kType + box("moov", kUprightTrack + turned)), kUpright);
}

TEST(StoredOrientation, IsFoundBehindBoxesOfAllSizes) {
  const Text index = track("vide", track_header(0));
  EXPECT_EQ(direction_in(kType + large_box("mdat", Text(99, 'x')) + box("moov", index)),
            Direction::clockwise);
  // The box extends to the end of the file.
  EXPECT_EQ(direction_in(kType + number(0, 4) + "moov" + index), Direction::clockwise);
}

// ----------------------------------------------------------------------------------------- Matroska

Text element(const Text &id, const Text &content) {
  return id + number(uint64_t{1} << 28 | content.size(), 4) + content;
}
Text angle(const Text &id, float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return element(id, number(bits, 4));
}
Text projection(float yaw, float pitch, float roll, int type = 0) {
  return element("\x76\x70", element("\x76\x71", number(static_cast<uint64_t>(type), 1)) +
                                 angle("\x76\x73", yaw) + angle("\x76\x74", pitch) +
                                 angle("\x76\x75", roll));
}
Text tracks(const Text &entries) { return element("\x16\x54\xae\x6b", entries); }
Text entry(int type, const Text &projection) {
  return element("\xae", element("\x83", number(static_cast<uint64_t>(type), 1)) +
                             element("\xe0", projection));
}
Text matroska(const Text &content) {
  return element("\x1a\x45\xdf\xa3", "head") + element("\x18\x53\x80\x67", content);
}

TEST(StoredOrientation, IsUprightForATiltedProjection) {
  const auto of = [](const Text &stated) {
    return direction_in(matroska(tracks(entry(1, stated))));
  };
  EXPECT_EQ(of(projection(0, 0, -90)), Direction::clockwise);
  EXPECT_EQ(of(projection(0, 0, 90)), Direction::counterclockwise);
  EXPECT_EQ(of(projection(180, 0, 0)), Direction::horizontal);
  EXPECT_EQ(of(projection(0, 90, -90)), kUpright);
  EXPECT_EQ(of(projection(45, 0, -90)), kUpright);
  EXPECT_EQ(of(projection(0, 0, -45)), kUpright);
  EXPECT_EQ(of(projection(0, 0, -90, 1)), kUpright);
}

TEST(StoredOrientation, IsThatOfTheFirstVideoInMatroskaToo) {
  const Text turned = projection(0, 0, -90), upright = projection(0, 0, 0);
  EXPECT_EQ(direction_in(matroska(tracks(entry(2, turned) + entry(1, upright)))), kUpright);
  EXPECT_EQ(direction_in(matroska(tracks(entry(2, upright) + entry(1, turned)))),
            Direction::clockwise);
}

/// Tracks are before the pictures. A search after the pictures would read the whole file.
TEST(StoredOrientation, IsNotLookedForBehindPictures) {
  const Text turned = tracks(entry(1, projection(0, 0, -90)));
  EXPECT_EQ(direction_in(matroska(element("\xec", "void") + turned)), Direction::clockwise);
  EXPECT_EQ(direction_in(matroska(element("\x1f\x43\xb6\x75", "cluster") + turned)), kUpright);
}

TEST(StoredOrientation, IsUprightForOtherFiles) {
  for (const Text &content :
       {Text(), Text(15, '\0'), Text(64, '\0'), kType, Text("RIFF") + Text(99, 'x')})
    EXPECT_EQ(direction_in(content), kUpright);
  EXPECT_EQ(stored_orientation("/nowhere.mp4"), kUpright);
}

}  // namespace
}  // namespace cudatensor
