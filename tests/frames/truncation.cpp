// SPDX-License-Identifier: LGPL-2.1-or-later
// Lengths in container files of kinds that GStreamer's muxers do not write.
#include "gst/library/frames/truncation.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/frames/handmade.h"

namespace cudatensor {
namespace {

std::optional<Text> truncation_of(const Text &content) { return look_at(content, find_truncation); }

// ---------------------------------------------------------------------------------------------- FLV

Text field(const char *name, const Text &value) {
  return number(std::strlen(name), 2) + name + value;
}
Text real(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return Text(1, '\0') + number(bits, 8);
}

/// Returns a file of one tag, whose script data contains the file's length, as FFmpeg writes it.
Text flv(double length) {
  const Text script = Text("\x02") + number(10, 2) + "onMetaData" + "\x08" + number(4, 4) +
                      field("duration", real(7)) + field("stereo", Text("\x01\x01")) +
                      field("encoder", "\x02" + number(4, 2) + "Lavf") +
                      field("filesize", real(length)) + number(9, 3);
  return Text("FLV\x01\x05") + number(9, 4) + number(0, 4) + "\x12" + number(script.size(), 3) +
         number(0, 7) + script + number(11 + script.size(), 4);
}

TEST(Truncation, FollowsTheScriptDataOfFlv) {
  const auto length = static_cast<double>(flv(0).size());
  for (const double stated : {0.0, -1.0, 1e19, 10.0, length})
    EXPECT_EQ(truncation_of(flv(stated)), std::nullopt) << stated;
  const auto found = truncation_of(flv(length + 1));
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("expected at least " + std::to_string(flv(0).size() + 1)), Text::npos) << *found;
}

// ---------------------------------------------------------------------------------------------- AVI

Text riff(const char *type, uint32_t size, const Text &content) {
  const Text big = number(size, 4);
  return "RIFF" + Text(big.rbegin(), big.rend()) + type + content;
}

/// A size of 0 means that the muxer did not complete the file.
TEST(Truncation, FollowsTheLastListOfAvi) {
  const Text rest(96, 'x');
  EXPECT_EQ(truncation_of(riff("AVI ", 100, rest)), std::nullopt);
  EXPECT_EQ(truncation_of(riff("AVI ", 0, rest)), std::nullopt);
  EXPECT_NE(truncation_of(riff("AVI ", 101, rest)), std::nullopt);
  EXPECT_EQ(truncation_of(riff("AVI ", 100, rest) + riff("AVIX", 100, rest)), std::nullopt);
  EXPECT_NE(truncation_of(riff("AVI ", 100, rest) + riff("AVIX", 101, rest)), std::nullopt);
}

}  // namespace
}  // namespace cudatensor
