// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps of boxes, also those that only later releases of GStreamer need: turned boxes, and maps that
// turn by any angle.
#include "gst/util/boxmap.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cudatensor {
namespace {

constexpr double kHalf = 0.70710678118654752;

/// Turns by 45° clockwise about the origin, then moves.
BoxMap turned_by_45(double x, double y) {
  return {{kHalf, -kHalf, x, kHalf, kHalf, y}, 100, 100, 200, 200};
}

TEST(BoxMap, BoxesAreAroundAllFourCorners) {
  // The corners lie at (100, 50), (107.1, 57.1), (92.9, 57.1) and (100, 64.1).
  EXPECT_EQ(map_box(turned_by_45(100, 50), {0, 0, 10, 10}, Rounding::outwards),
            (Box{92, 50, 16, 15}));
  const auto clipped = map_box_clipped(turned_by_45(0, 50), {0, 0, 10, 10}, Rounding::outwards);
  ASSERT_TRUE(clipped);
  EXPECT_EQ(*clipped, (Box{0, 50, 8, 15}));
}

TEST(BoxMap, TurnedBoxesKeepTheirSides) {
  const TurnedBox turned = map_box(turned_by_45(100, 50), TurnedBox{{0, 0, 20, 10}, 0.0f});
  // The center (10, 5) is mapped to (103.5, 60.6).
  EXPECT_EQ(turned.box, (Box{94, 56, 20, 10}));
  EXPECT_NEAR(turned.radians, M_PI / 4, 1e-6);
  // The sides stay when it is mapped back, and the place but for the rounding.
  const TurnedBox back = map_box(inverse_of(turned_by_45(100, 50)), turned);
  EXPECT_EQ(back.box.width, 20);
  EXPECT_EQ(back.box.height, 10);
  EXPECT_NEAR(back.box.x, 0, 1);
  EXPECT_NEAR(back.box.y, 0, 1);
  EXPECT_NEAR(back.radians, 0.0, 1e-6);
  // A box that lies askew in a picture of which only the width is doubled.
  const TurnedBox wide = map_box(scaling(10, 10, 20, 10), TurnedBox{{0, 0, 10, 10}, M_PI / 4});
  EXPECT_EQ(wide.box.width, 16);  // 10 hypot(2, 1) / sqrt(2)
  EXPECT_EQ(wide.box.height, 16);
  EXPECT_NEAR(wide.radians, std::atan2(1.0, 2.0), 1e-6);
}

TEST(BoxMap, OnlyScaledPicturesAreUpright) {
  EXPECT_TRUE(is_upright(scaling(10, 10, 20, 5)));
  EXPECT_FALSE(is_upright(turned_by_45(0, 0)));
  for (const Matrix &m : {Matrix{-1, 0, 10, 0, 1, 0},
                          {1, 0, 0, 0, -1, 10},
                          {-1, 0, 10, 0, -1, 10},
                          {0, -1, 10, 1, 0, 0},
                          {0, 1, 0, 1, 0, 0}})
    EXPECT_FALSE(is_upright({m, 10, 10, 10, 10}));
}

/// Boxes are mapped back to the stored picture, and clipped to that.
TEST(BoxMap, SizesAreThoseOfTheStoredPicture) {
  Geometry g = make_geometry({ResizeMode::stretch}, 30, 50, 60, 100);
  g.direction = Direction::clockwise;
  const BoxMap map = box_map_of(g);
  EXPECT_EQ(map.in_width, 50);
  EXPECT_EQ(map.in_height, 30);
  EXPECT_EQ(map.out_width, 60);
  EXPECT_EQ(map.out_height, 100);
  // The lower end of the output is the right end of the stored picture.
  const auto box = map_box_clipped(inverse_of(map), {0, 80, 60, 40}, Rounding::nearest);
  ASSERT_TRUE(box);
  EXPECT_EQ(*box, (Box{40, 0, 10, 30}));
}

}  // namespace
}  // namespace cudatensor
