// SPDX-License-Identifier: LGPL-2.1-or-later
// Two elements that must give the same bits as one.
#include <algorithm>

#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr ResizeMode kLetterboxModes[] = {ResizeMode::affine, ResizeMode::ultralytics,
                                          ResizeMode::top_left};

struct Size {
  int width, height;
};

std::string text_of(Size in, Size out) {
  return std::to_string(in.width) + "x" + std::to_string(in.height) + " to " +
         std::to_string(out.width) + "x" + std::to_string(out.height);
}

/// Smaller, larger, wider, higher, and a whole ratio.
const std::pair<Size, Size> kSizes[] = {
    {{31, 17}, {24, 24}}, {{9, 14}, {20, 20}}, {{32, 18}, {16, 16}}, {{7, 5}, {33, 8}}};

std::string size_caps(Size size) {
  return "video/x-raw,width=" + std::to_string(size.width) +
         ",height=" + std::to_string(size.height);
}

class LetterboxThenNormalize : public testing::TestWithParam<PixelFormat> {};

INSTANTIATE_TEST_SUITE_P(Equivalence, LetterboxThenNormalize, testing::ValuesIn(kInputFormats),
                         [](const auto &info) { return std::string(name_of(info.param)); });

TEST_P(LetterboxThenNormalize, IsNormalizeWithRound) {
  for (const auto &[in, out] : kSizes)
    for (const ResizeMode mode : kLetterboxModes)
      for (const Method method : {Method::bilinear, Method::nearest})
        for (const Color color : {Color::rgb, Color::bgr}) {
          const ImageDesc desc = {GetParam(), in.width, in.height};
          const Picture picture = random_picture(desc);
          const std::string sampling = " pad-value=77 method=" + nick(method);
          const std::string values =
              " mean=<0.485,0.456,0.406> std=<0.229,0.224,0.225> color=" + nick(color);
          const std::string two = "cudaletterbox resize-mode=" + nick(mode) + sampling + " ! " +
                                  size_caps(out) + ",format=RGB ! cudanormalize" + values;
          const std::string one = "cudanormalize round=true resize-mode=" + nick(mode) + sampling +
                                  values + " width=" + std::to_string(out.width) +
                                  " height=" + std::to_string(out.height);
          EXPECT_TRUE(same_bytes(output_bytes(one, video_caps(desc), buffer_of(picture), "ANY"),
                                 output_bytes(two, video_caps(desc), buffer_of(picture), "ANY")))
              << text_of(in, out) << ": " << one;
        }
}

TEST(LetterboxThenNormalize, MayPassThroughAnyFormat) {
  const ImageDesc desc = {PixelFormat::NV12, 31, 17};
  const Picture picture = random_picture(desc);
  const Bytes expected =
      output_bytes("cudanormalize round=true resize-mode=ultralytics width=24 height=24",
                   video_caps(desc), buffer_of(picture), "ANY");
  // cudanormalize reads no planar RGB.
  for (const PixelFormat format : kPackedFormats)
    EXPECT_TRUE(same_bytes(
        output_bytes(
            "cudaletterbox resize-mode=ultralytics ! video/x-raw,width=24,height=24,format=" +
                std::string(name_of(format)) + " ! cudanormalize",
            video_caps(desc), buffer_of(picture), "ANY"),
        expected))
        << name_of(format);
}

class Yuv444ThenNormalize : public testing::TestWithParam<PixelFormat> {};

INSTANTIATE_TEST_SUITE_P(Equivalence, Yuv444ThenNormalize, testing::ValuesIn(kYuv420Formats),
                         [](const auto &info) { return std::string(name_of(info.param)); });

TEST_P(Yuv444ThenNormalize, IsNormalizeToYuv) {
  for (const auto &[in, out] : kSizes) {
    const ImageDesc desc = {GetParam(), in.width, in.height};
    const Picture picture = random_picture(desc);
    const std::string values = " color=yuv normalization=alpha-beta alpha=<0.0078125> beta=<-1>";
    EXPECT_TRUE(same_bytes(
        output_bytes("cudanormalize" + values + " width=" + std::to_string(out.width) +
                         " height=" + std::to_string(out.height),
                     video_caps(desc), buffer_of(picture), "ANY"),
        output_bytes("cudanv12toyuv444 ! " + size_caps(out) + " ! cudanormalize" + values,
                     video_caps(desc), buffer_of(picture), "ANY")))
        << text_of(in, out);
  }
}

TEST_P(Yuv444ThenNormalize, GivesTheSameColoursWhereNothingIsResized) {
  // Chroma is replicated, as the nearest method does.
  const ImageDesc desc = {GetParam(), 15, 9};
  const Picture picture = random_picture(desc);
  for (const char *colorimetry : {"bt601", "bt709", "1:4:0:0"}) {
    const std::string caps = video_caps(desc, std::string("colorimetry=(string)") + colorimetry);
    EXPECT_TRUE(
        same_bytes(output_bytes("cudanormalize method=nearest", caps, buffer_of(picture), "ANY"),
                   output_bytes("cudanv12toyuv444 ! cudanormalize method=nearest", caps,
                                buffer_of(picture), "ANY")))
        << colorimetry;
  }
}

/// Returns a rectangle of a Y444 picture.
Picture cut_out(const Picture &from, int x, int y, const ImageDesc &desc) {
  Picture picture(desc);
  for (size_t plane = 0; plane < 3; ++plane)
    for (int row = 0; row < desc.height; ++row) {
      const auto begin =
          from.planes()[plane].bytes.begin() + ptrdiff_t{from.desc().width} * (y + row) + x;
      std::copy_n(begin, desc.width,
                  picture.planes()[plane].bytes.begin() + ptrdiff_t{desc.width} * row);
    }
  return picture;
}

TEST_P(Yuv444ThenNormalize, CropOfAResizeIsAResizeWithCrop) {
  const ImageDesc desc = {GetParam(), 31, 17}, whole = {PixelFormat::Y444, 40, 23};
  const Picture picture = random_picture(desc);
  const Picture resized =
      output_picture("cudanv12toyuv444", video_caps(desc), buffer_of(picture), whole);
  const struct {
    int x, y, width, height;
  } rectangles[] = {{0, 0, 40, 23}, {0, 0, 1, 1}, {39, 22, 1, 1}, {7, 3, 20, 11}, {1, 0, 39, 5}};
  for (const auto &r : rectangles) {
    const ImageDesc out = {PixelFormat::Y444, r.width, r.height};
    EXPECT_TRUE(
        same_picture(output_picture("cudanv12toyuv444 resize-width=40 resize-height=23 crop-x=" +
                                        std::to_string(r.x) + " crop-y=" + std::to_string(r.y),
                                    video_caps(desc), buffer_of(picture), out),
                     cut_out(resized, r.x, r.y, out)));
  }
}

TEST(ThreadsAndBackends, DoNotChangeABit) {
  const ImageDesc desc = {PixelFormat::NV12, 131, 97};
  const Picture picture = random_picture(desc);
  const auto run = [&](const std::string &properties) {
    return output_bytes("cudanormalize width=64 height=200 resize-mode=affine " + properties,
                        video_caps(desc), buffer_of(picture), "ANY");
  };
  const Bytes expected = run("backend=cpu n-threads=1");
  for (const char *properties : {"backend=cpu n-threads=2", "backend=cpu n-threads=3",
                                 "backend=cpu n-threads=0", "backend=auto"})
    EXPECT_TRUE(same_bytes(run(properties), expected)) << properties;
}

}  // namespace
}  // namespace cudatensor
