// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/color.h"

#include <cmath>

#include "oracle.h"
#include "params.h"

namespace cudatensor {
namespace {

std::vector<Colorimetry> all_colorimetries() {
  std::vector<Colorimetry> all;
  for (const ColorMatrix matrix : kMatrices)
    for (const ColorRange range : kRanges) all.push_back({matrix, range});
  return all;
}

std::string text_of(Colorimetry c) {
  return "matrix " + std::to_string(static_cast<int>(c.matrix)) + " range " +
         std::to_string(static_cast<int>(c.range));
}

TEST(Color, CoefficientsAreRoundedOnce) {
  for (const Colorimetry colorimetry : all_colorimetries()) {
    SCOPED_TRACE(text_of(colorimetry));
    const YuvToRgb k = make_yuv_to_rgb(colorimetry);
    const oracle::Factors expected = oracle::factors_of(colorimetry);
    EXPECT_EQ(k.ky, static_cast<float>(expected.ky));
    EXPECT_EQ(k.y0, static_cast<float>(expected.y0));
    EXPECT_EQ(k.krv, static_cast<float>(expected.krv));
    EXPECT_EQ(k.kgu, static_cast<float>(expected.kgu));
    EXPECT_EQ(k.kgv, static_cast<float>(expected.kgv));
    EXPECT_EQ(k.kbu, static_cast<float>(expected.kbu));
  }
}

TEST(Color, CoefficientsAreThePublishedOnes) {
  // Textbook values of Rec. 601 for 16-235.
  const YuvToRgb k = make_yuv_to_rgb({ColorMatrix::bt601, ColorRange::limited});
  EXPECT_NEAR(k.ky, 1.164, 5e-4);
  EXPECT_NEAR(k.krv, 1.596, 5e-4);
  EXPECT_NEAR(k.kgu, -0.392, 5e-4);
  EXPECT_NEAR(k.kgv, -0.813, 5e-4);
  EXPECT_NEAR(k.kbu, 2.017, 5e-4);
  const YuvToRgb hd = make_yuv_to_rgb({ColorMatrix::bt709, ColorRange::full});
  EXPECT_NEAR(hd.krv, 1.5748, 5e-5);
  EXPECT_NEAR(hd.kgu, -0.1873, 5e-5);
  EXPECT_NEAR(hd.kgv, -0.4681, 5e-5);
  EXPECT_NEAR(hd.kbu, 1.8556, 5e-5);
  const YuvToRgb uhd = make_yuv_to_rgb({ColorMatrix::bt2020, ColorRange::full});
  EXPECT_NEAR(uhd.krv, 1.4746, 5e-5);
  EXPECT_NEAR(uhd.kgu, -0.16455, 5e-5);
  EXPECT_NEAR(uhd.kgv, -0.57135, 5e-5);
  EXPECT_NEAR(uhd.kbu, 1.8814, 5e-5);
}

void expect_conversion(Colorimetry colorimetry, const YuvToRgb &k, int y, int u, int v) {
  const Pixel in = {static_cast<float>(y), static_cast<float>(u), static_cast<float>(v)};
  const Pixel rgb = yuv_to_rgb(k, in);
  const oracle::Triple expected = oracle::rgb_from_yuv(colorimetry, {in.c0, in.c1, in.c2});
  ASSERT_EQ(rgb.c0, expected[0]) << y << " " << u << " " << v;
  ASSERT_EQ(rgb.c1, expected[1]) << y << " " << u << " " << v;
  ASSERT_EQ(rgb.c2, expected[2]) << y << " " << u << " " << v;
  const oracle::PreciseTriple precise =
      oracle::precise_rgb_from_yuv(colorimetry, {in.c0, in.c1, in.c2});
  ASSERT_NEAR(rgb.c0, precise[0], 1e-3) << y << " " << u << " " << v;
  ASSERT_NEAR(rgb.c1, precise[1], 1e-3) << y << " " << u << " " << v;
  ASSERT_NEAR(rgb.c2, precise[2], 1e-3) << y << " " << u << " " << v;
}

TEST(Color, ConvertsAsTheFormulaAndWithinABoundOfDoublePrecision) {
  for (const Colorimetry colorimetry : all_colorimetries()) {
    SCOPED_TRACE(text_of(colorimetry));
    const YuvToRgb k = make_yuv_to_rgb(colorimetry);
    for (int y = 0; y < 256; y += 3)
      for (int u = 0; u < 256; u += 5)
        for (int v = 0; v < 256; v += 5) {
          expect_conversion(colorimetry, k, y, u, v);
          if (testing::Test::HasFatalFailure()) return;
        }
  }
}

TEST(Color, BlackWhiteAndGreysStayGrey) {
  for (const Colorimetry colorimetry : all_colorimetries()) {
    const YuvToRgb k = make_yuv_to_rgb(colorimetry);
    const bool full = colorimetry.range == ColorRange::full;
    const Pixel black = yuv_to_rgb(k, {full ? 0.0f : 16.0f, 128.0f, 128.0f});
    const Pixel white = yuv_to_rgb(k, {full ? 255.0f : 235.0f, 128.0f, 128.0f});
    EXPECT_NEAR(black.c0, 0.0, 1e-4);
    EXPECT_NEAR(white.c0, 255.0, 1e-4);
    for (int y = 0; y < 256; ++y) {
      const Pixel grey = yuv_to_rgb(k, {static_cast<float>(y), 128.0f, 128.0f});
      EXPECT_EQ(grey.c0, grey.c1);
      EXPECT_EQ(grey.c0, grey.c2);
      EXPECT_EQ(grey.c0, luma_to_gray(k, static_cast<float>(y)));
      EXPECT_EQ(grey.c0, oracle::gray_from_luma(colorimetry, static_cast<float>(y)));
    }
  }
}

TEST(Color, GreyOfRgbIsTheFormula) {
  for (int r = 0; r < 256; r += 3)
    for (int g = 0; g < 256; g += 3)
      for (int b = 0; b < 256; b += 3) {
        const oracle::Triple rgb = {static_cast<float>(r), static_cast<float>(g),
                                    static_cast<float>(b)};
        const float grey = rgb_to_gray({rgb[0], rgb[1], rgb[2]});
        ASSERT_EQ(grey, oracle::gray_from_rgb(rgb)) << r << " " << g << " " << b;
        ASSERT_NEAR(grey, 0.299 * r + 0.587 * g + 0.114 * b, 1e-4);
      }
}

TEST(Color, LuminanceHasFiveRoundings) {
  int differing = 0;
  for (int r = 0; r < 256; ++r)
    for (int g = 0; g < 256; ++g)
      for (int b = 0; b < 256; ++b) {
        const auto r8 = static_cast<uint8_t>(r), g8 = static_cast<uint8_t>(g),
                   b8 = static_cast<uint8_t>(b);
        const int u = luminance(r8, g8, b8);
        differing += u != oracle::luminance(r8, g8, b8);
        ASSERT_LE(std::abs(u - (0.299 * r + 0.587 * g + 0.114 * b)), 1.001);
      }
  EXPECT_EQ(differing, 0);
}

TEST(Color, LuminancePutsThirteenGreysOneBinLow) {
  int low = 0;
  for (int grey = 0; grey < 256; ++grey) {
    const auto x = static_cast<uint8_t>(grey);
    const int u = luminance(x, x, x);
    EXPECT_TRUE(u == grey || u == grey - 1) << grey;
    low += u == grey - 1;
  }
  EXPECT_EQ(low, 13);
}

}  // namespace
}  // namespace cudatensor
