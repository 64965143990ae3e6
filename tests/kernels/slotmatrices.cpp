// SPDX-License-Identifier: LGPL-2.1-or-later
// The matrices of oriented boxes and of aligned points, compared with what they are for.
#include <array>
#include <cmath>
#include <limits>

#include "kernels/slotmatrix.h"
#include "params.h"
#include "random.h"

namespace cudatensor {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// InsightFace's template for slots of 112 × 112.
const std::vector<Point> kFace = {{38.2946, 51.6963},
                                  {73.5318, 51.5014},
                                  {56.0252, 71.7366},
                                  {41.5493, 92.3655},
                                  {70.7299, 92.2041}};

void expect_near(const Point &a, const Point &b, double tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
}

double determinant(const Matrix &m) { return m[0] * m[4] - m[1] * m[3]; }

// ------------------------------------------------------------------------------------ oriented boxes

/// Returns the corners of a box as the box is seen upright, from the upper left one clockwise.
std::array<Point, 4> corners_of(const OrientedBox &box) {
  const double across_x = std::cos(box.radians) * box.width / 2.0;
  const double across_y = std::sin(box.radians) * box.width / 2.0;
  const double down_x = -std::sin(box.radians) * box.height / 2.0;
  const double down_y = std::cos(box.radians) * box.height / 2.0;
  const auto corner = [&](double i, double j) {
    return Point{box.center_x + i * across_x + j * down_x,
                 box.center_y + i * across_y + j * down_y};
  };
  return {corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)};
}

OrientedBox random_box(Random &random) {
  return {random.real(-500.0, 2000.0), random.real(-500.0, 2000.0), random.real(1.0, 900.0),
          random.real(1.0, 900.0), random.real(-7.0, 7.0)};
}

TEST(Upright, StretchesABoxToTheSlot) {
  for_cases(2000, [](Random &random) {
    const OrientedBox box = random_box(random);
    const int width = random.integer(1, 700), height = random.integer(1, 700);
    const auto m = upright(box, {ResizeMode::stretch, random.chance(50)}, width, height);
    ASSERT_TRUE(m);
    const auto corners = corners_of(box);
    expect_near(mapped(*m, corners[0]), {0.0, 0.0}, 1e-6);
    expect_near(mapped(*m, corners[1]), {static_cast<double>(width), 0.0}, 1e-6);
    expect_near(mapped(*m, corners[3]), {0.0, static_cast<double>(height)}, 1e-6);
  });
}

/// A letterbox mode gives the largest box with one scale, in the middle of the slot.
TEST(Upright, FitsABoxIntoTheSlot) {
  for_cases(2000, [](Random &random) {
    const OrientedBox box = random_box(random);
    const int width = random.integer(1, 700), height = random.integer(1, 700);
    const bool scale_up = random.chance(50);
    const ResizeMode mode =
        random.pick(std::vector{ResizeMode::affine, ResizeMode::ultralytics, ResizeMode::top_left});
    const auto m = upright(box, {mode, scale_up}, width, height);
    ASSERT_TRUE(m);
    const auto corners = corners_of(box);
    const Point first = mapped(*m, corners[0]), last = mapped(*m, corners[2]);
    const double across = last.x - first.x, down = last.y - first.y;
    EXPECT_NEAR(across / box.width, down / box.height, 1e-9);
    EXPECT_NEAR(first.x + last.x, width, 1e-6);
    EXPECT_NEAR(first.y + last.y, height, 1e-6);
    EXPECT_LE(across, width + 1e-6);
    EXPECT_LE(down, height + 1e-6);
    const bool keeps_size = !scale_up && box.width <= width && box.height <= height;
    if (keeps_size)
      EXPECT_NEAR(across, box.width, 1e-6);
    else
      EXPECT_NEAR(std::min(width - across, height - down), 0.0, 1e-6);
    expect_near(mapped(*m, corners[1]), {last.x, first.y}, 1e-6);
  });
}

TEST(Upright, OfABoxWithoutAreaIsNone) {
  const double sides[] = {0.0, -4.0, kNaN};
  for (const double side : sides)
    for (const ResizeMode mode : {ResizeMode::stretch, ResizeMode::affine}) {
      EXPECT_FALSE(upright({10, 10, side, 5, 1}, {mode}, 8, 8)) << side;
      EXPECT_FALSE(upright({10, 10, 5, side, 1}, {mode}, 8, 8)) << side;
      EXPECT_FALSE(touches({10, 10, 5, 0.0, 1}, {PixelFormat::RGB, 100, 100}));
    }
  for (const double radians : {kNaN, kInfinity})
    EXPECT_FALSE(upright({10, 10, 5, 5, radians}, {}, 8, 8)) << radians;
  EXPECT_FALSE(upright({4e9, 10, 5, 5, 1}, {}, 8, 8));
}

TEST(Upright, TouchesThePictureThatItOverlaps) {
  const ImageDesc picture = {PixelFormat::RGB, 40, 30};
  EXPECT_TRUE(touches({20, 15, 4, 4, 0.3}, picture));
  EXPECT_TRUE(touches({20, 15, 900, 900, 0.3}, picture));
  EXPECT_TRUE(touches({-1, 15, 4, 4, 0.3}, picture));
  EXPECT_FALSE(touches({-3, 15, 4, 4, 0.0}, picture));
  EXPECT_TRUE(touches({-2.1, 15, 4, 4, M_PI / 4}, picture));
  // The boxes around both overlap, but a side of the turned one separates them.
  EXPECT_FALSE(touches({43, 33, 8, 2, M_PI / 4 * 3}, picture));
  EXPECT_TRUE(touches({43, 33, 14, 2, M_PI / 4}, picture));
}

// ------------------------------------------------------------------------------------ aligned points

double squared_error(const Matrix &m, const std::vector<Point> &from,
                     const std::vector<Point> &to) {
  double sum = 0.0;
  for (size_t i = 0; i < from.size(); ++i) {
    const Point p = mapped(m, from[i]);
    sum += (p.x - to[i].x) * (p.x - to[i].x) + (p.y - to[i].y) * (p.y - to[i].y);
  }
  return sum;
}

Matrix similarity_of(double scale, double radians, double x, double y) {
  const double c = scale * std::cos(radians), s = scale * std::sin(radians);
  return {c, -s, x, s, c, y};
}

Matrix random_similarity(Random &random) {
  return similarity_of(std::exp2(random.real(-4.0, 4.0)), random.real(-4.0, 4.0),
                       random.real(-500.0, 500.0), random.real(-500.0, 500.0));
}

std::vector<Point> random_points(Random &random, int count) {
  std::vector<Point> points;
  for (int i = 0; i < count; ++i)
    points.push_back({random.real(-100.0, 2000.0), random.real(-100.0, 2000.0)});
  return points;
}

TEST(Similarity, IsTheOneThatThePointsHave) {
  for_cases(2000, [](Random &random) {
    const std::vector<Point> from = random_points(random, random.integer(2, 40));
    const Matrix expected = random_similarity(random);
    std::vector<Point> to;
    for (const Point &p : from) to.push_back(mapped(expected, p));
    const auto m = similarity(from, to);
    ASSERT_TRUE(m);
    for (size_t i = 0; i < from.size(); ++i) expect_near(mapped(*m, from[i]), to[i], 1e-6);
    EXPECT_NEAR(determinant(*m), determinant(expected), 1e-6);
  });
}

/// Every other similarity is farther from the points; also where a reflection would be nearer.
TEST(Similarity, HasTheLeastSquaresError) {
  for_cases(2000, [](Random &random) {
    const std::vector<Point> from = random_points(random, random.integer(2, 12));
    std::vector<Point> to = random_points(random, static_cast<int>(from.size()));
    if (random.chance(30))
      for (size_t i = 0; i < from.size(); ++i) to[i] = {-from[i].x + to[i].x / 50, from[i].y};
    const auto m = similarity(from, to);
    ASSERT_TRUE(m);
    EXPECT_EQ((*m)[0], (*m)[4]);
    EXPECT_EQ((*m)[1], -(*m)[3]);
    const double least = squared_error(*m, from, to);
    for (int i = 0; i < 8; ++i) {
      const double scale = std::exp2(random.real(-0.2, 0.2)), radians = random.real(-0.2, 0.2);
      const Matrix change =
          similarity_of(scale, radians, random.real(-9.0, 9.0), random.real(-9.0, 9.0));
      EXPECT_GE(squared_error(product(change, *m), from, to), least * (1.0 - 1e-9));
      EXPECT_GE(squared_error(product(*m, change), from, to), least * (1.0 - 1e-9));
    }
  });
}

/// The numbers are those of SimilarityTransform of scikit-image, which InsightFace uses.
TEST(Similarity, OfAFaceIsThatOfScikitImage) {
  const std::vector<Point> found = {
      {312.5, 201.25}, {371.0, 214.5}, {333.75, 245.0}, {301.5, 268.25}, {350.25, 279.75}};
  const auto m = similarity(found, kFace);
  ASSERT_TRUE(m);
  const Matrix expected = {0.575453726734321,    0.13934584289531338, -169.74715150385836,
                           -0.13934584289531335, 0.575453726734321,   -20.70151607956653};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR((*m)[i], expected[i], 1e-10);
}

TEST(Similarity, OfEqualPointsIsNone) {
  EXPECT_FALSE(similarity({}, {}));
  EXPECT_FALSE(similarity({{1, 2}}, {{1, 2}}));
  EXPECT_FALSE(similarity({{0.1, 0.3}, {0.1, 0.3}, {0.1, 0.3}}, {{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_FALSE(similarity({{1, 2}, {3, 4}}, {{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_TRUE(similarity({{1, 2}, {1, 2.5}}, {{1, 2}, {3, 4}}));
}

/// Places a point of the seen picture in the stored one, after the table of directions: samples are
/// at whole numbers.
Point stored_of(const Point &p, Direction direction, double width, double height) {
  const double x = p.x, y = p.y, right = width - 1.0, bottom = height - 1.0;
  switch (direction) {
    case Direction::identity: return {x, y};
    case Direction::clockwise: return {y, bottom - x};
    case Direction::half_turn: return {right - x, bottom - y};
    case Direction::counterclockwise: return {right - y, x};
    case Direction::horizontal: return {right - x, y};
    case Direction::vertical: return {x, bottom - y};
    case Direction::main_diagonal: return {y, x};
    case Direction::anti_diagonal: return {right - y, bottom - x};
  }
  return {};
}

/// A mirrored picture aligns, too. The matrix maps continuous coordinates.
TEST(Aligned, PointsLieOnTheTemplateInEveryDirection) {
  for_cases(1000, [](Random &random) {
    const ImageDesc picture = {PixelFormat::NV12, random.integer(1, 4000), random.integer(1, 4000)};
    const Direction direction = random.pick(kDirections);
    const Matrix face = inverse_of(random_similarity(random));
    std::vector<Point> points;
    for (const Point &p : kFace)
      points.push_back(stored_of(mapped(face, p), direction, picture.width, picture.height));
    const auto m = aligned(points, kFace, picture, direction, 112, 112);
    ASSERT_TRUE(m);
    for (size_t i = 0; i < points.size(); ++i)
      expect_near(mapped(*m, {points[i].x + 0.5, points[i].y + 0.5}),
                  {kFace[i].x + 0.5, kFace[i].y + 0.5}, 1e-6);
    const Orientation o = orientation_of(direction);
    EXPECT_EQ(determinant(*m) < 0.0, o.transposed ^ o.mirrored_x ^ o.mirrored_y);
  });
}

TEST(Aligned, PointsThatGiveNoMatrixAreNone) {
  const ImageDesc picture = {PixelFormat::RGB, 100, 100};
  const auto face_with = [](const Point &last) {
    std::vector<Point> points = kFace;
    points.back() = last;
    return points;
  };
  const auto is_aligned = [&](const std::vector<Point> &points) {
    return aligned(points, kFace, picture, Direction::identity, 112, 112).has_value();
  };
  EXPECT_TRUE(is_aligned(kFace));
  for (const Point &last : {Point{kNaN, 1}, Point{1, kInfinity}, Point{1e200, 1}, Point{1e12, 1}})
    EXPECT_FALSE(is_aligned(face_with(last))) << last.x;
  EXPECT_FALSE(is_aligned(std::vector<Point>(5, Point{12.1, 0.7})));
  EXPECT_FALSE(is_aligned({{1, 2}, {3, 4}}));
  EXPECT_FALSE(is_aligned({}));
  // Two points that the template has in one place.
  EXPECT_FALSE(aligned({{1, 2}, {3, 4}}, {{5, 5}, {5, 5}}, picture, Direction::identity, 9, 9));
}

TEST(Aligned, ShowsThePictureThatTheSlotOverlaps) {
  const ImageDesc picture = {PixelFormat::RGB, 40, 30};
  EXPECT_TRUE(shows({1, 0, 0, 0, 1, 0}, 10, 10, picture));
  EXPECT_TRUE(shows({1, 0, 9.5, 0, 1, 0}, 10, 10, picture));
  EXPECT_FALSE(shows({1, 0, 10, 0, 1, 0}, 10, 10, picture));
  EXPECT_FALSE(shows({1, 0, -40, 0, 1, 0}, 10, 10, picture));
  EXPECT_FALSE(shows({1, 0, 0, 0, 1, -30}, 10, 10, picture));
  EXPECT_TRUE(shows({0.01, 0, 5, 0, 0.01, 5}, 10, 10, picture));
}

}  // namespace
}  // namespace cudatensor
