// SPDX-License-Identifier: LGPL-2.1-or-later
// Which answers of cameras are decoded as pictures.
#include "capture/picture.h"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <random>

#include "seed.h"

namespace luminance {
namespace {

class Picture : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
};

std::string number(unsigned value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string segment(unsigned char marker, const std::string &data) {
  return std::string("\xff") + static_cast<char>(marker) +
         number(static_cast<unsigned>(data.size()) + 2, 2) + data;
}

std::string frame(unsigned width, unsigned height, unsigned char marker = 0xc0) {
  return segment(marker, "\x08" + number(height, 2) + number(width, 2) + "\x01\x01\x11" +
                             std::string(1, '\0'));
}

std::string jpeg(const std::string &segments) {
  return "\xff\xd8" + segment(0xe0, std::string("JFIF\0\1\1\0\0\1\0\1\0\0", 14)) + segments +
         segment(0xda, "\x01\x01\x00\x00?\x00") + std::string(64, 'x') + "\xff\xd9";
}

std::string png(unsigned width, unsigned height, const std::string &first = "IHDR") {
  return "\x89PNG\r\n\x1a\n" + number(13, 4) + first + number(width, 4) + number(height, 4) +
         number(0x08000000, 4) + std::string(64, '\0');
}

std::string error_of(const std::string &picture) { return format_of(picture).error; }

constexpr const char *kTooLarge = "the picture has more than 64 Mi pixels";

TEST_F(Picture, IsAJpegOrAPng) {
  EXPECT_EQ(format_of(jpeg(frame(640, 480))).type, "image/jpeg");
  EXPECT_EQ(format_of(jpeg(frame(640, 480, 0xc2))).type, "image/jpeg");
  EXPECT_EQ(format_of(png(640, 480)).type, "image/png");
  EXPECT_EQ(error_of(jpeg(frame(640, 480))) + error_of(png(640, 480)), "");
  EXPECT_EQ(error_of("<html><body>Log in</body></html>"),
            "the camera sends text/html, not a picture (JPEG or PNG)");
  EXPECT_EQ(error_of(std::string("GIF89a") + number(0x10001000, 4) + std::string(64, '\0')),
            "the camera sends image/gif, not a picture (JPEG or PNG)");
  EXPECT_EQ(error_of(std::string(100, '\0')),
            "the camera sends unknown data, not a picture (JPEG or PNG)");
  EXPECT_NE(error_of("x"), "");
}

TEST_F(Picture, IsNotTooLarge) {
  EXPECT_EQ(error_of(jpeg(frame(8192, 8192))) + error_of(png(8192, 8192)), "");
  EXPECT_EQ(error_of(jpeg(frame(8193, 8192))), kTooLarge);
  EXPECT_EQ(error_of(jpeg(frame(65535, 65535, 0xc2))), kTooLarge);
  EXPECT_EQ(error_of(png(8193, 8192)), kTooLarge);
  EXPECT_EQ(error_of(png(~0u, ~0u)), kTooLarge);
}

TEST_F(Picture, HasTheSizeThatItsDecoderFinds) {
  std::string before;
  for (int i = 0; i < 40; ++i) before += segment(0xe2, std::string(60000, 'x'));
  EXPECT_EQ(error_of(jpeg(before + frame(9000, 9000))), kTooLarge);
  // Tables, and bytes within a segment, are not frame headers.
  EXPECT_EQ(error_of(jpeg(segment(0xc4, frame(9000, 9000)) + frame(16, 16))), "");
  EXPECT_EQ(error_of(jpeg(segment(0xe1, frame(16, 16)) + frame(9000, 9000))), kTooLarge);
  EXPECT_EQ(error_of(jpeg("\xff\xff\xff" + frame(9000, 9000))), kTooLarge);
  EXPECT_EQ(error_of(jpeg("xx\xff" + std::string(1, '\0') + frame(9000, 9000))), kTooLarge);
}

TEST_F(Picture, MustStateItsSize) {
  EXPECT_EQ(error_of(jpeg("")), kUndecoded);
  EXPECT_EQ(error_of(jpeg(frame(640, 0))), kUndecoded);
  EXPECT_EQ(error_of("\xff\xd8\xff\xd9"), kUndecoded);
  EXPECT_EQ(error_of(jpeg("\xff\xd8" + frame(640, 480))), kUndecoded);
  EXPECT_EQ(error_of(png(640, 480, "tEXt")), kUndecoded);
  const std::string whole = jpeg(frame(640, 480));
  const size_t size_ends = whole.find("\xff\xc0") + 9;
  for (size_t size = 4; size < whole.size(); ++size)
    EXPECT_EQ(error_of(whole.substr(0, size)).empty(), size >= size_ends) << size;
}

TEST_F(Picture, MayHaveRandomBytes) {
  std::minstd_rand random(seed());
  const std::string wholes[] = {jpeg(segment(0xe2, "abc") + frame(640, 480)), png(640, 480)};
  for (int i = 0; i < 20000; ++i) {
    std::string text = wholes[i % 2];
    for (unsigned changes = 1 + random() % 8; changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    const PictureFormat format = format_of(text);
    EXPECT_NE(format.type.empty(), format.error.empty());
  }
}

}  // namespace
}  // namespace luminance
