// SPDX-License-Identifier: LGPL-2.1-or-later
// Slots by a matrix, compared with the oracle and with slots that a resize makes.
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

TEST_P(MatrixTest, RefusesWhatHasNoInverse) {
  Random random(1);
  NormalizeCase p = random_case(random, PixelFormat::NV12);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::pair<Matrix, const char *> refused[] = {
      {{1, 0, std::nan(""), 0, 1, 0}, "not finite"},
      {{infinity, 0, 0, 0, 1, 0}, "not finite"},
      {{1, 2, 0, 2, 4, 0}, "no inverse"},
      {{1e-7, 0, 0, 0, 1e-7, 0}, "no inverse"},
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
    p.mean = {1.0};
    p.std = {2.0};
    p.alpha = {0.5};
    p.beta = {1.0};
    const InputPicture in(random, p.source.image);
    const auto operation = machine()->normalize(p, p.out);
    for (int frame = 0; frame < 3; ++frame) {
      std::vector<Slot> slots;
      OutputTensor out(random, p.out);
      for (int64_t i = 0; i < p.out.n; ++i) {
        NormalizeCase one = p;
        one.out = slot_desc(p.out);
        one.matrix.reset();
        if (random.chance(matrices)) one.matrix = random_matrix(random, p);
        const Tensor expected = slot_of(out.expected(), static_cast<size_t>(i));
        if (random.chance(15)) {
          fill_with_pad(p, expected);
          slots.emplace_back();
        } else {
          oracle::normalize(one, in.view(), expected);
          slots.push_back({p.source, in.view(), {}, one.matrix});
        }
      }
      machine().run_pictures(
          [&](const std::vector<ConstImage> &views, const Tensor &to, Stream stream) {
            for (Slot &slot : slots)
              if (!slot.is_pad()) slot.image = views.front();
            operation->run(slots, to, stream);
          },
          {&in}, out);
      ASSERT_TRUE(out.matches()) << text_of(p);
    }
  });
}

}  // namespace
}  // namespace cudatensor
