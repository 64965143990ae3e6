// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/geometry.h"

#include <cmath>
#include <sstream>

#include "oracle.h"
#include "params.h"

namespace cudatensor {
namespace {

struct Case {
  ResizeMode mode;
  Size src, dst;
  bool scale_up;
};

std::string text_of(const Case &c) {
  std::ostringstream text;
  text << "mode " << static_cast<int>(c.mode) << ", " << c.src.width << "x" << c.src.height
       << " -> " << c.dst.width << "x" << c.dst.height << (c.scale_up ? "" : " no-scale-up");
  return text.str();
}

Geometry geometry_of(const Case &c) {
  return make_geometry({c.mode, c.scale_up}, c.src.width, c.src.height, c.dst.width, c.dst.height);
}

void expect_as_the_oracle(const Case &c) {
  SCOPED_TRACE(text_of(c));
  const Geometry g = geometry_of(c);
  const oracle::Placement p =
      oracle::place(c.mode, c.src.width, c.src.height, c.dst.width, c.dst.height, c.scale_up);
  EXPECT_EQ(g.mode, c.mode);
  EXPECT_EQ(g.src_width, c.src.width);
  EXPECT_EQ(g.src_height, c.src.height);
  EXPECT_EQ(g.dst_width, c.dst.width);
  EXPECT_EQ(g.dst_height, c.dst.height);
  if (c.mode == ResizeMode::affine) {
    EXPECT_EQ(g.step, p.step);
  }
  EXPECT_EQ(g.sx, p.sx);
  EXPECT_EQ(g.sy, p.sy);
  EXPECT_EQ(g.tx, p.tx);
  EXPECT_EQ(g.ty, p.ty);
  EXPECT_EQ(g.pad_left, p.left);
  EXPECT_EQ(g.pad_top, p.top);
  EXPECT_EQ(g.content_width, p.width);
  EXPECT_EQ(g.content_height, p.height);
}

/// Expects properties that hold for every geometry.
void expect_sane(const Case &c) {
  SCOPED_TRACE(text_of(c));
  const Geometry g = geometry_of(c);
  EXPECT_GE(g.pad_left, 0);
  EXPECT_GE(g.pad_top, 0);
  EXPECT_GE(g.content_width, 1);
  EXPECT_GE(g.content_height, 1);
  EXPECT_LE(g.pad_left + g.content_width, c.dst.width);
  EXPECT_LE(g.pad_top + g.content_height, c.dst.height);
  if (c.mode == ResizeMode::stretch) return;
  if (!c.scale_up) {
    EXPECT_LE(g.sx, 1.0 + 1e-12);
    EXPECT_LE(g.sy, 1.0 + 1e-12);
  }
  // The picture's centre differs from the output's by at most half a pixel, and 0.1 more if it is
  // rounded.
  if (c.mode == ResizeMode::top_left) return;
  const double slack = c.mode == ResizeMode::affine ? 1e-9 : 0.6 + 1e-9;
  EXPECT_NEAR(g.sx * c.src.width / 2.0 + g.tx, c.dst.width / 2.0, slack);
  EXPECT_NEAR(g.sy * c.src.height / 2.0 + g.ty, c.dst.height / 2.0, slack);
}

TEST(Geometry, AllSmallSizes) {
  for (const ResizeMode mode : kModes)
    for (const bool scale_up : kBools)
      for (int sizes = 0; sizes < 8 * 8 * 8 * 8; ++sizes) {
        const Case c = {mode,
                        {1 + sizes % 8, 1 + sizes / 8 % 8},
                        {1 + sizes / 64 % 8, 1 + sizes / 512},
                        scale_up};
        expect_as_the_oracle(c);
        expect_sane(c);
        if (testing::Test::HasFailure()) return;
      }
}

TEST(Geometry, RandomSizes) {
  for_cases(20000, [](Random &random) {
    const auto length = [&] {
      return random.integer(1, random.chance(50) ? 32767 : random.chance(50) ? 2000 : 50);
    };
    const Case c = {
        random.pick(kModes), {length(), length()}, {length(), length()}, random.chance(50)};
    expect_as_the_oracle(c);
    expect_sane(c);
  });
}

TEST(Geometry, AffineOfAVideoFrame) {
  const Geometry g = geometry_of({ResizeMode::affine, {1920, 1080}, {640, 640}, true});
  EXPECT_EQ(g.step, 3.0);
  EXPECT_EQ(g.sx, 1.0 / 3.0);
  EXPECT_EQ(g.tx, 0.0);
  EXPECT_NEAR(g.ty, 140.0, 1e-9);
  EXPECT_EQ(g.pad_left, 0);
  EXPECT_EQ(g.pad_top, 140);
  EXPECT_EQ(g.content_width, 640);
  EXPECT_EQ(g.content_height, 360);
}

TEST(Geometry, AffineMayBeginBetweenPixels) {
  const Geometry g = geometry_of({ResizeMode::affine, {8, 5}, {8, 8}, true});
  EXPECT_EQ(g.ty, 1.5);
  EXPECT_EQ(g.pad_top, 1);
  EXPECT_EQ(g.content_height, 6);
}

TEST(Geometry, AffineWithoutScaleUpKeepsSmallPictures) {
  const Geometry g = geometry_of({ResizeMode::affine, {10, 20}, {100, 100}, false});
  EXPECT_EQ(g.step, 1.0);
  EXPECT_EQ(g.sx, 1.0);
  EXPECT_EQ(g.pad_left, 45);
  EXPECT_EQ(g.pad_top, 40);
  EXPECT_EQ(g.content_width, 10);
  EXPECT_EQ(g.content_height, 20);
}

TEST(Geometry, UltralyticsOfAPortrait) {
  // Ultralytics' LetterBox prints these values for its bus.jpg.
  const Geometry g = geometry_of({ResizeMode::ultralytics, {810, 1080}, {640, 640}, true});
  EXPECT_EQ(g.content_width, 480);
  EXPECT_EQ(g.content_height, 640);
  EXPECT_EQ(g.pad_left, 80);
  EXPECT_EQ(g.pad_top, 0);
  EXPECT_EQ(g.sx, 480.0 / 810.0);
  EXPECT_EQ(g.tx, 80.0);
}

TEST(Geometry, UltralyticsPutsTheOddPixelBehind) {
  const Geometry g = geometry_of({ResizeMode::ultralytics, {10, 7}, {10, 10}, true});
  EXPECT_EQ(g.content_height, 7);
  EXPECT_EQ(g.pad_top, 1);  // one of three rows is above, two are below
}

TEST(Geometry, SizesRoundHalvesToEven) {
  // 5 · 0.5 = 2.5 and 7 · 0.5 = 3.5.
  EXPECT_EQ(geometry_of({ResizeMode::top_left, {10, 5}, {5, 5}, true}).content_height, 2);
  EXPECT_EQ(geometry_of({ResizeMode::top_left, {10, 7}, {5, 5}, true}).content_height, 4);
}

TEST(Geometry, ContentIsAtLeastOnePixel) {
  const Geometry g = geometry_of({ResizeMode::ultralytics, {32767, 1}, {10, 10}, true});
  EXPECT_EQ(g.content_height, 1);
  EXPECT_EQ(g.pad_top, 4);  // half_even(4.5 - 0.1)
}

TEST(Clip, KeepsWhatLiesInThePictureToTheBit) {
  // A sum and a difference of these would give other numbers.
  const Region inside = {0.1, 0.3, 0.7, 0.1 + 0.2};
  EXPECT_TRUE(clip(inside, 2, 2) == inside);
  const Region whole = {0, 0, 2, 2};
  EXPECT_TRUE(clip(whole, 2, 2) == whole);
}

TEST(Clip, LeavesNoLessThanTheSmallestRegion) {
  const double least = kMinSide;
  EXPECT_TRUE(clip({-1, 0, 1 + least, 2}, 2, 2) == Region({0, 0, least, 2}));
  EXPECT_FALSE(clip({-1, 0, 1 + least / 2, 2}, 2, 2));
  EXPECT_TRUE(clip({2 - least, 0, 5, 2}, 2, 2) == Region({2 - least, 0, least, 2}));
  EXPECT_FALSE(clip({2, 0, 5, 2}, 2, 2));
}

TEST(Clip, GivesNoRegionForNan) {
  const double none = std::nan("");
  for (const Region &region : {Region{0, 0, none, 2}, Region{0, 0, 2, none}})
    EXPECT_FALSE(clip(region, 2, 2));
}

TEST(Geometry, StretchFillsTheOutput) {
  const Geometry g = geometry_of({ResizeMode::stretch, {100, 50}, {200, 300}, false});
  EXPECT_EQ(g.sx, 2.0);
  EXPECT_EQ(g.sy, 6.0);
  EXPECT_EQ(g.tx, 0.0);
  EXPECT_EQ(g.content_width, 200);
  EXPECT_EQ(g.content_height, 300);
}

}  // namespace
}  // namespace cudatensor
