// SPDX-License-Identifier: LGPL-2.1-or-later
// Slots by a matrix, compared with the oracle and with slots that a resize makes.
#include <array>
#include <cmath>
#include <limits>

#include "backends.h"
#include "kernels/matrixplan.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"
#include "slots.h"

namespace cudatensor {
namespace {

/// Returns a matrix that turns, scales, shears and mirrors, with the center of the picture near that
/// of the slot.
Matrix random_matrix(Random &random, const NormalizeCase &p) {
  const double angle = random.chance(20) ? M_PI / 2 * random.integer(0, 3) : random.real(-4.0, 4.0);
  const double scale = std::exp2(random.real(-3.0, 3.0)), other = scale * random.real(0.3, 2.0);
  const double shear = random.chance(50) ? 0.0 : random.real(-1.0, 1.0);
  const double c = std::cos(angle), s = std::sin(angle);
  const double mirror = random.chance(30) ? -1.0 : 1.0;
  Matrix m = {mirror * scale * c,  scale * (s + shear * c), 0.0,
              -mirror * other * s, other * (c - shear * s), 0.0};
  const ImageDesc &image = p.source.image;
  const double x = image.width * random.real(0.2, 0.8), y = image.height * random.real(0.2, 0.8);
  m[2] = static_cast<double>(p.out.w) / 2.0 - m[0] * x - m[1] * y;
  m[5] = static_cast<double>(p.out.h) / 2.0 - m[3] * x - m[4] * y;
  return m;
}

NormalizeCase random_case(Random &random, PixelFormat format) {
  Color color = random.pick(kColors);
  if (!is_possible(format, color)) color = Color::rgb;
  NormalizeCase p =
      random_normalize(random, format, color, random_size(random), random_size(random));
  p.repeat_edge = random.chance(40);
  p.matrix = random_matrix(random, p);
  return p;
}

class MatrixTest : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const NormalizeCase &p) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture other(random, p.source.image),
        in(random, p.source.image, random.pick(kAllContents));
    OutputTensor out(random, p.out);
    oracle::normalize(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return normalize_picture(machine, p); }, other, in,
               out);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(MatrixTest);

TEST_P(MatrixTest, RandomCases) {
  for_cases(600, [&](Random &random) {
    expect_as_the_oracle(random, random_case(random, random.pick(kSourceFormats)));
  });
}

TEST_P(MatrixTest, EveryFormat) {
  uint64_t number = 0;
  for (const PixelFormat format : kSourceFormats)
    for (const Method method : kMethods)
      for (int i = 0; i < 3; ++i) {
        Random random(++number);
        SCOPED_TRACE(random.name());
        NormalizeCase p = random_case(random, format);
        p.resize.method = method;
        expect_as_the_oracle(random, p);
      }
}

/// The matrix of a letterbox gives its pixels, but for the last bits of weights.
TEST_P(MatrixTest, EqualsALetterboxOfTheSameMatrix) {
  for_cases(60, [&](Random &random) {
    NormalizeCase p = random_case(random, PixelFormat::RGB);
    p.matrix.reset();
    p.source.direction = random.pick(kDirections);
    p.resize.mode = ResizeMode::affine;
    p.resize.method = Method::bilinear;
    p.repeat_edge = false;
    p.out = {DType::float32, Layout::nchw, 1, 3, p.out.h, p.out.w};
    p.color = Color::rgb;
    p.round = false;
    p.normalization = Normalization::alpha_beta;
    p.alpha = {1.0};
    p.beta = {0.0};
    SCOPED_TRACE(text_of(p));
    const ImageDesc seen = p.source.seen();
    Geometry g = make_geometry(p.resize.fit(), seen.width, seen.height, static_cast<int>(p.out.w),
                               static_cast<int>(p.out.h));
    g.direction = p.source.direction;
    NormalizeCase by_matrix = p;
    by_matrix.matrix = matrix_of(g);
    const InputPicture in(random, p.source.image, Content::ramp);
    OutputTensor boxed(random, p.out), warped(random, p.out);
    machine().run(*normalize_picture(machine(), p), in, boxed);
    machine().run(*normalize_picture(machine(), by_matrix), in, warped);
    for (int64_t i = 0; i < p.out.elements(); ++i)
      ASSERT_NEAR(oracle::element(constant(boxed.view()), i),
                  oracle::element(constant(warped.view()), i), 0.01)
          << i;
  });
}

/// Half the size: every pixel of the slot lies in the middle between two samples.
TEST_P(MatrixTest, NearestTakesTheLaterOfTwoSamples) {
  for_cases(10, [&](Random &random) {
    NormalizeCase p = random_case(random, random.pick(kSourceFormats));
    p.resize.method = Method::nearest;
    p.matrix = Matrix{0.5, 0, 0, 0, 0.5, 0};
    expect_as_the_oracle(random, p);
  });
}

TEST_P(MatrixTest, RefusesWhatHasNoInverse) {
  Random random(1);
  NormalizeCase p = random_case(random, PixelFormat::NV12);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::pair<Matrix, const char *> refused[] = {
      {{1, 0, std::nan(""), 0, 1, 0}, "not finite"},
      {{infinity, 0, 0, 0, 1, 0}, "not finite"},
      {{1, 2, 0, 2, 4, 0}, "no inverse"},
      {{1e-7, 0, 0, 0, 1e-7, 0}, "no inverse"},
      {{1e200, 1e200, 0, 1e200, 1e200, 0}, "no inverse"},  // infinity - infinity
      {{1e-5, 0, 1e6, 0, 1e-5, 0}, "2^30"},
      {{1, 0, 2e9, 0, 1, 0}, "2^30"},
      {{1, 0, 0, 0, 1, -2e9}, "2^30"},
  };
  for (const auto &[matrix, cause] : refused) {
    p.matrix = matrix;
    expect_refusal(Error::Code::settings, cause, [&] { normalize_picture(machine(), p); });
  }
  p.matrix = Matrix{1, 0, 0, 0, 1, 0};
  p.resize.antialias = true;
  p.resize.method = Method::box;
  p.resize.mode = ResizeMode::stretch;
  p.color = Color::rgb;
  p.out.c = 3;
  expect_refusal(Error::Code::settings, "antialias", [&] { normalize_picture(machine(), p); });
}

/// Far positions show in which order the steps are rounded.
TEST(MatrixPlan, PositionsAreThoseOfTheFormula) {
  for_cases(300, [](Random &random) {
    const auto number = [&](double low, double high) {
      return std::exp2(random.real(low, high)) * (random.chance(50) ? -1.0 : 1.0);
    };
    const double a = number(-4, 26), b = number(-4, 12), d = number(-4, 12), e = number(-4, 26);
    const double det = a * e - b * d;
    if (std::abs(det) < 1.0) return;
    const double c = number(0, 28), g = number(0, 28);  // in samples, from which M follows
    const Matrix m = {e / det,  -b / det, (b * g - c * e) / det,
                      -d / det, a / det,  (c * d - a * g) / det};
    const double own = m[0] * m[4] - m[1] * m[3];
    if (std::abs(own) < 1e-12) return;
    const Source source = {{PixelFormat::GRAY8, 20, 10}, {}};
    const MatrixPlan plan = make_matrix_plan(source, {}, Color::gray, 1, 1, m, true);
    const auto expect_position = [](const PositionPlan &p, double x, double y, double begin) {
      const double first = x / 2 + y / 2;
      const double sum = first + begin;
      EXPECT_EQ(p.a, std::llround(x * 4294967296.0));
      EXPECT_EQ(p.b, std::llround(y * 4294967296.0));
      EXPECT_EQ(p.c, std::llround((sum - 0.5) * 4294967296.0));
    };
    expect_position(plan.x.position, m[4] / own, -m[1] / own, (m[1] * m[5] - m[2] * m[4]) / own);
    expect_position(plan.y.position, -m[3] / own, m[0] / own, (m[2] * m[3] - m[0] * m[5]) / own);
  });
}

TEST(MatrixPlan, ContentIsTheBoxOfTheFrameRoundedOutwards) {
  const Source source = {{PixelFormat::GRAY8, 5, 3}, {}};
  const auto geometry = [&](const Matrix &m) {
    return make_matrix_plan(source, {}, Color::gray, 10, 8, m, false).conversion.geometry;
  };
  const auto content = [&](const Matrix &m) {
    const Geometry g = geometry(m);
    return std::array<int, 4>{g.pad_left, g.pad_top, g.content_width, g.content_height};
  };
  using Box = std::array<int, 4>;
  // From (1.25, 2.5) to (3.75, 4).
  EXPECT_EQ(content({0.5, 0, 1.25, 0, 0.5, 2.5}), (Box{1, 2, 3, 2}));
  // Turned: from (0.5, 0.25) to (3.5, 5.25).
  EXPECT_EQ(content({0, -1, 3.5, 1, 0, 0.25}), (Box{0, 0, 4, 6}));
  // Clipped, and beyond the slot.
  EXPECT_EQ(content({1, 0, 7.5, 0, 1, -1.5}), (Box{7, 0, 3, 2}));
  EXPECT_EQ(content({1, 0, 100, 0, 1, -100}), (Box{10, 0, 0, 0}));
  const Region region = geometry({0.5, 0, 1.25, 0, 0.5, 2.5}).region;
  EXPECT_EQ(region, (Region{-2.5, -5.0, 20.0, 16.0}));
}

/// A determinant of 1e-12, and corner pixels 2^30 samples away, are the limits.
TEST_P(MatrixTest, TakesWhatIsWithinTheLimits) {
  Random random(1);
  NormalizeCase p = random_case(random, PixelFormat::NV12);
  p.out.w = p.out.h = 4;
  const auto expect_limit = [&](const Matrix &taken, const Matrix &refused, const char *cause) {
    p.matrix = taken;
    EXPECT_NO_THROW(normalize_picture(machine(), p)) << cause;
    p.matrix = refused;
    expect_refusal(Error::Code::settings, cause, [&] { normalize_picture(machine(), p); });
  };
  expect_limit({1.1e-6, 0, 0, 0, 1e-6, 0}, {0.9e-6, 0, 0, 0, 1e-6, 0}, "no inverse");
  // Pixel x lies at `step` (x + 0.5) + `begin` - 0.5.
  const auto along = [](bool x, double step, double begin) {
    return x ? Matrix{1 / step, 0, -begin / step, 0, 1, 0}
             : Matrix{1, 0, 0, 0, 1 / step, -begin / step};
  };
  for (const bool x : {true, false}) {
    // The last pixel, then the first, is the one too far away.
    expect_limit(along(x, 0x1p28, 0), along(x, 0x1p29, 0), "2^30");
    expect_limit(along(x, 2, -0x1p30), along(x, 0.5, -0x1p30), "2^30");
  }
}

/// Slots by boxes and by matrices stand beside each other in a batch, which also changes them and
/// leaves some empty. Large batches take more than one launch.
TEST_P(MatrixTest, MixWithRegionsInABatch) {
  for_cases(40, [&](Random &random) {
    NormalizeCase p = random_case(random, random.pick(kSourceFormats));
    p.color = Color::rgb;
    p.out.c = 3;
    p.out.n = random.chance(10) ? 70 : 4;
    p.pad_outside = true;
    const int matrices = random.pick(std::vector<int>{0, 60, 100});  // percent
    const int empty = random.pick(std::vector<int>{0, 0, 15});       // percent
    p.mean = {1.0};
    p.std = {2.0};
    p.alpha = {0.5};
    p.beta = {1.0};
    const InputPicture pictures[] = {{random, p.source.image}, {random, p.source.image}};
    const int others = random.pick(std::vector<int>{0, 0, 50});  // percent
    const auto operation = machine()->normalize(p, p.out);
    for (int frame = 0; frame < 3; ++frame) {
      std::vector<Slot> slots;
      std::vector<size_t> sources;
      OutputTensor out(random, p.out);
      for (int64_t i = 0; i < p.out.n; ++i) {
        sources.push_back(random.chance(others) ? 1 : 0);
        const InputPicture &in = pictures[sources.back()];
        NormalizeCase one = p;
        one.out = slot_desc(p.out);
        one.matrix.reset();
        if (random.chance(matrices)) one.matrix = random_matrix(random, p);
        const Tensor expected = slot_of(out.expected(), static_cast<size_t>(i));
        if (random.chance(empty)) {
          fill_with_pad(p, expected);
          slots.emplace_back();
        } else {
          oracle::normalize(one, in.view(), expected);
          slots.push_back({p.source, in.view(), {}, one.matrix});
        }
      }
      machine().run_pictures(
          [&](const std::vector<ConstImage> &views, const Tensor &to, Stream stream) {
            for (size_t i = 0; i < slots.size(); ++i)
              if (!slots[i].is_pad()) slots[i].image = views[sources[i]];
            operation->run(slots, to, stream);
          },
          {&pictures[0], &pictures[1]}, out);
      ASSERT_TRUE(out.matches()) << text_of(p);
    }
  });
}

}  // namespace
}  // namespace cudatensor
