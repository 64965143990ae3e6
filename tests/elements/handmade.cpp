// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures that were computed by hand, because other tests compare with the kernels.
#include <cmath>

#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

Bytes filled(size_t count, uint8_t value) { return Bytes(count, value); }

/// Returns the rows of a grey letterbox of a picture.
Bytes gray_letterbox(const std::string &properties, const Picture &in, int width, int height) {
  return output_picture("cudaletterbox " + properties, video_caps(in.desc()), buffer_of(in),
                        {PixelFormat::GRAY8, width, height})
      .bytes();
}

TEST(Letterbox, UltralyticsCentresOnWholePixels) {
  const Picture white({PixelFormat::GRAY8, 4, 2}, 255);
  const Bytes expected = {114, 114, 114, 114, 255, 255, 255, 255,
                          255, 255, 255, 255, 114, 114, 114, 114};
  EXPECT_TRUE(same_bytes(gray_letterbox("resize-mode=ultralytics", white, 4, 4), expected));
}

TEST(Letterbox, UltralyticsRoundsAnOddPadUpwards) {
  // Three rows of pad: half of them less 0.1 is 1.4, so one lies above.
  const Picture white({PixelFormat::GRAY8, 4, 1}, 255);
  const Bytes expected = {9, 9, 9, 9, 255, 255, 255, 255, 9, 9, 9, 9, 9, 9, 9, 9};
  EXPECT_TRUE(
      same_bytes(gray_letterbox("resize-mode=ultralytics pad-value=9", white, 4, 4), expected));
}

TEST(Letterbox, TopLeftPadsOnlyBelowAndRight) {
  const Picture white({PixelFormat::GRAY8, 1, 2}, 255);
  const Bytes expected = {255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0};
  EXPECT_TRUE(
      same_bytes(gray_letterbox("resize-mode=top-left pad-value=0", white, 4, 4), expected));
}

TEST(Letterbox, AffineIsTheDefaultAndBlendsItsBorder) {
  // One row, centered on two: each output row is half picture, half pad: (200 + 114) / 2.
  const Picture gray({PixelFormat::GRAY8, 2, 1}, 200);
  EXPECT_TRUE(same_bytes(gray_letterbox("", gray, 2, 2), filled(4, 157)));
}

TEST(Letterbox, KeepsTheSizeOfASmallPictureWithoutScaleUp) {
  const Picture dot({PixelFormat::GRAY8, 1, 1}, 255);
  const Bytes expected = {0, 0, 0, 0, 255, 0, 0, 0, 0};
  for (const char *mode : {"affine", "ultralytics"})
    EXPECT_TRUE(same_bytes(
        gray_letterbox(std::string("scale-up=false pad-value=0 resize-mode=") + mode, dot, 3, 3),
        expected))
        << mode;
}

TEST(Letterbox, NearestRepeatsPixels) {
  const Picture two({PixelFormat::GRAY8, 2, 1}, Bytes{10, 20});
  const Bytes expected = {10, 10, 20, 20, 10, 10, 20, 20};
  EXPECT_TRUE(same_bytes(gray_letterbox("method=nearest", two, 4, 2), expected));
}

TEST(Letterbox, BilinearBlendsBetweenPixelCentres) {
  // Centres of four output pixels on two: -0.25, 0.25, 0.75, 1.25; edges repeat.
  const Picture two({PixelFormat::GRAY8, 2, 1}, Bytes{0, 100});
  const Bytes expected = {0, 25, 75, 100, 0, 25, 75, 100};
  EXPECT_TRUE(same_bytes(gray_letterbox("resize-mode=ultralytics", two, 4, 2), expected));
}

TEST(Letterbox, OrdersChannelsAndMakesAlphaOpaque) {
  const Picture red({PixelFormat::ARGB, 1, 1}, Bytes{7, 255, 2, 1});
  const struct {
    PixelFormat format;
    Bytes expected;
  } cases[] = {{PixelFormat::RGB, {255, 2, 1}},       {PixelFormat::BGR, {1, 2, 255}},
               {PixelFormat::RGBA, {255, 2, 1, 255}}, {PixelFormat::BGRx, {1, 2, 255, 255}},
               {PixelFormat::xRGB, {255, 255, 2, 1}}, {PixelFormat::ABGR, {255, 1, 2, 255}},
               {PixelFormat::RGBP, {255, 2, 1}},      {PixelFormat::BGRP, {1, 2, 255}}};
  for (const auto &c : cases)
    EXPECT_TRUE(same_bytes(
        output_picture("cudaletterbox", video_caps(red.desc()), buffer_of(red), {c.format, 1, 1})
            .bytes(),
        c.expected))
        << name_of(c.format);
}

/// Returns a picture of one colour in 4:2:0.
Picture nv12(uint8_t y, uint8_t u, uint8_t v) {
  return Picture({PixelFormat::NV12, 2, 2}, Bytes{y, y, y, y, u, v});
}

Bytes rgb_of(const Picture &picture, const std::string &colorimetry) {
  return output_picture("cudaletterbox",
                        video_caps(picture.desc(), "colorimetry=(string)" + colorimetry),
                        buffer_of(picture), {PixelFormat::RGB, 1, 1})
      .bytes();
}

TEST(Colour, LimitedRangeReachesBlackAndWhite) {
  EXPECT_EQ(rgb_of(nv12(16, 128, 128), "bt709"), (Bytes{0, 0, 0}));
  EXPECT_EQ(rgb_of(nv12(235, 128, 128), "bt709"), (Bytes{255, 255, 255}));
  EXPECT_EQ(rgb_of(nv12(0, 128, 128), "bt601"), (Bytes{0, 0, 0}));
}

TEST(Colour, FullRangeKeepsGreys) {
  EXPECT_EQ(rgb_of(nv12(16, 128, 128), "1:4:0:0"), (Bytes{16, 16, 16}));
  EXPECT_EQ(rgb_of(nv12(200, 128, 128), "1:3:5:1"), (Bytes{200, 200, 200}));
}

TEST(Colour, MatricesDiffer) {
  // 1.1644 · 65 = 75.68, and 112 of V times 1.5960, 1.7927 and 1.6787.
  EXPECT_EQ(rgb_of(nv12(81, 90, 240), "bt601"), (Bytes{254, 0, 0}));
  EXPECT_EQ(rgb_of(nv12(81, 128, 240), "bt709"), (Bytes{255, 16, 76}));
  EXPECT_EQ(rgb_of(nv12(81, 128, 200), "2:6:0:0"), (Bytes{197, 29, 76}));
}

TEST(Yuv444, RepeatsChroma) {
  const Picture in({PixelFormat::I420, 2, 2}, Bytes{1, 2, 3, 4, 50, 60});
  EXPECT_EQ(output_picture("cudanv12toyuv444", video_caps(in.desc()), buffer_of(in),
                           {PixelFormat::Y444, 2, 2})
                .bytes(),
            (Bytes{1, 2, 3, 4, 50, 50, 50, 50, 60, 60, 60, 60}));
}

TEST(Yuv444, HalvesInFixedPoint) {
  // Two pixels to one reads half of each: (10 + 21 + 1) / 2 rounded = 16 in both passes.
  const Picture in({PixelFormat::NV12, 2, 2}, Bytes{10, 21, 10, 21, 50, 60});
  EXPECT_EQ(output_picture("cudanv12toyuv444", video_caps(in.desc()), buffer_of(in),
                           {PixelFormat::Y444, 1, 1})
                .bytes(),
            (Bytes{16, 50, 60}));
}

TEST(Yuv444, CropsTheResizedFrame) {
  const Picture in({PixelFormat::NV12, 4, 1}, Bytes{10, 20, 30, 40, 1, 2, 3, 4});
  EXPECT_EQ(output_picture("cudanv12toyuv444 crop-x=1 resize-width=4", video_caps(in.desc()),
                           buffer_of(in), {PixelFormat::Y444, 2, 1})
                .bytes(),
            (Bytes{20, 30, 1, 3, 2, 4}));
}

std::vector<float> tensor_of(const std::string &properties, const Picture &in) {
  Rig rig("cudanormalize " + properties);
  EXPECT_TRUE(rig.caps(video_caps(in.desc())));
  return elements_of<float>(bytes_of(rig.process(buffer_of(in)).get()));
}

Picture two_pixels() { return Picture({PixelFormat::RGB, 2, 1}, Bytes{255, 0, 51, 0, 102, 255}); }

TEST(Normalize, PutsPlanesOneAfterTheOther) {
  EXPECT_EQ(tensor_of("scale=1", two_pixels()), (std::vector<float>{255, 0, 0, 102, 51, 255}));
  EXPECT_EQ(tensor_of("scale=1 layout=nhwc", two_pixels()),
            (std::vector<float>{255, 0, 51, 0, 102, 255}));
  EXPECT_EQ(tensor_of("scale=1 color=bgr", two_pixels()),
            (std::vector<float>{51, 255, 0, 102, 255, 0}));
}

TEST(Normalize, BringsFloatsToOne) {
  const std::vector<float> out = tensor_of("", two_pixels());
  ASSERT_EQ(out.size(), 6u);
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_NEAR(out[3], 0.4, 1e-7);
}

TEST(Normalize, AppliesMeanAndStdToEachChannel) {
  const std::vector<float> out =
      tensor_of("mean=<0.5,0.25,0> std=<0.5,0.25,2> layout=nhwc", two_pixels());
  const std::vector<float> expected = {1.0f, -1.0f, 0.1f, -1.0f, 0.6f, 0.5f};
  ASSERT_EQ(out.size(), expected.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-6) << i;
}

TEST(Normalize, AppliesAlphaAndBeta) {
  EXPECT_EQ(tensor_of("normalization=alpha-beta alpha=<0.5> beta=<1,2,3>", two_pixels()),
            (std::vector<float>{128.5f, 1.0f, 2.0f, 53.0f, 28.5f, 130.5f}));
}

TEST(Normalize, ReadsYuvAsItIs) {
  const Picture in({PixelFormat::NV12, 1, 1}, Bytes{0, 128, 255});
  EXPECT_EQ(tensor_of("color=yuv normalization=alpha-beta alpha=<0.0078125> beta=<-1>", in),
            (std::vector<float>{-1.0f, 0.0f, 0.9921875f}));
}

TEST(Normalize, WeighsGrey) {
  const Picture in({PixelFormat::BGRx, 1, 1}, Bytes{10, 20, 100, 77});
  const std::vector<float> out = tensor_of("color=gray scale=1", in);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_NEAR(out[0], 0.299 * 100 + 0.587 * 20 + 0.114 * 10, 1e-4);
}

TEST(Normalize, RoundsAndLimitsIntegers) {
  const Picture in({PixelFormat::GRAY8, 4, 1}, Bytes{0, 1, 200, 255});
  const auto integers = [&](const std::string &properties) {
    Rig rig("cudanormalize color=gray " + properties);
    EXPECT_TRUE(rig.caps(video_caps(in.desc())));
    return bytes_of(rig.process(buffer_of(in)).get());
  };
  EXPECT_EQ(integers("dtype=uint8"), (Bytes{0, 1, 200, 255}));
  EXPECT_EQ(integers("dtype=uint8 scale=1.5"), (Bytes{0, 2, 255, 255}));
  EXPECT_EQ(integers("dtype=int8 mean=<128>"), (Bytes{128, 129, 72, 127}));
  EXPECT_EQ(integers("dtype=int8 mean=<-100>"), (Bytes{100, 101, 127, 127}));
}

TEST(Normalize, WritesHalfFloats) {
  const Picture in({PixelFormat::GRAY8, 2, 1}, Bytes{255, 51});
  Rig rig("cudanormalize color=gray dtype=float16");
  ASSERT_TRUE(rig.caps(video_caps(in.desc())));
  EXPECT_EQ(elements_of<uint16_t>(bytes_of(rig.process(buffer_of(in)).get())),
            (std::vector<uint16_t>{0x3c00, 0x3266}));
}

TEST(PixelShuffle, InterleavesFourPlanes) {
  Rig rig("cudapixelshuffle");
  ASSERT_TRUE(rig.caps(tensor_caps("uint8", "2:1:4:1")));
  EXPECT_EQ(bytes_of(rig.process(buffer_of(Bytes{1, 2, 3, 4, 5, 6, 7, 8})).get()),
            (Bytes{1, 3, 2, 4, 5, 7, 6, 8}));
}

TEST(PixelShuffle, MakesSamplesOfFloats) {
  const float nan = std::nanf("");
  const Bytes in = bytes_of(std::vector<float>{0.5f, -1.0f, 2.0f, nan});
  const ImageDesc out = {PixelFormat::GRAY8, 2, 2};
  const std::string caps = tensor_caps("float32", "1:1:4:1");
  EXPECT_EQ(output_picture("cudapixelshuffle", caps, buffer_of(in), out).bytes(),
            (Bytes{128, 0, 255, 0}));
  EXPECT_EQ(
      output_picture("cudapixelshuffle scale=100 offset=10", caps, buffer_of(in), out).bytes(),
      (Bytes{60, 0, 210, 0}));
}

TEST(PixelShuffle, ChannelZeroIsRed) {
  const Bytes in = {200, 100, 50};
  const std::string caps = tensor_caps("uint8", "1:1:3:1");
  const auto picture = [&](PixelFormat format) {
    return output_picture("cudapixelshuffle upscale-factor=1", caps, buffer_of(in), {format, 1, 1})
        .bytes();
  };
  EXPECT_EQ(picture(PixelFormat::RGB), (Bytes{200, 100, 50}));
  EXPECT_EQ(picture(PixelFormat::BGR), (Bytes{50, 100, 200}));
  EXPECT_EQ(picture(PixelFormat::RGBP), (Bytes{200, 100, 50}));
}

}  // namespace
}  // namespace cudatensor
