// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/normalize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns how far an element may differ from double precision.
double bound_of(const NormalizeCase &p, const oracle::Affine &k, double exact) {
  const double component = (p.round ? 0.5 : 0.0) + 1e-3;
  const double fused =
      component * std::fabs(k.a) + 1e-6 * (255.0 * std::fabs(k.a) + std::fabs(k.b));
  switch (p.out.dtype) {
    case DType::float32: return fused;
    case DType::float16: return fused + std::fabs(exact) * 0x1p-11 + 0x1p-25;
    case DType::bfloat16: return fused + (std::fabs(exact) + fused) * 0x1p-8;
    default: return fused + 0.5;
  }
}

double limited(double exact, DType type) {
  if (type == DType::uint8) return std::clamp(exact, 0.0, 255.0);
  return type == DType::int8 ? std::clamp(exact, -128.0, 127.0) : exact;
}

void expect_near_double(const NormalizeCase &p, const ConstImage &in, const ConstTensor &out) {
  if (oracle::takes_fixed_path(p)) return;
  const auto width = static_cast<int>(p.out.w), height = static_cast<int>(p.out.h);
  const oracle::Resampler resampler(in, p.source, p.resize, p.color, width, height);
  for (int c = 0; c < p.out.c; ++c) {
    const oracle::Affine k = oracle::affine_of(p, c);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        double component = resampler.precise(x, y)[p.color == Color::bgr ? 2 - c : c];
        if (p.round) component = std::min(component, 255.0);
        const double exact = k.a * component + k.b;
        // Such values overflow in float16, so precision does not matter.
        if (p.out.dtype == DType::float16 && std::fabs(exact) > 65000.0) continue;
        const double element = oracle::element(out, oracle::index_of(p.out, 0, c, y, x));
        if (!(std::fabs(element - limited(exact, p.out.dtype)) <= bound_of(p, k, exact)))
          FAIL() << "channel " << c << " at " << x << "," << y << ": " << element << " is far from "
                 << exact;
      }
  }
}

class NormalizeTest : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const NormalizeCase &p, Content content) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture other(random, p.source.image), in(random, p.source.image, content);
    OutputTensor out(random, p.out);
    oracle::normalize(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return normalize_picture(machine, p); }, other, in,
               out);
  }

  /// The same on one random machine only.
  void expect_one_as_the_oracle(Random &random, const NormalizeCase &p) const {
    expect_one_as_the_oracle(random, p,
                             InputPicture(random, p.source.image, random.pick(kAllContents)));
  }
  void expect_one_as_the_oracle(Random &random, const NormalizeCase &p,
                                const InputPicture &in) const {
    SCOPED_TRACE(text_of(p));
    OutputTensor out(random, p.out);
    oracle::normalize(p, in.view(), out.expected());
    const Machine &machine = any(random);
    expect_one(machine, *normalize_picture(machine, p), in, out);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(NormalizeTest);

Color random_color(Random &random, PixelFormat from) {
  const Color color = random.pick(kColors);
  return is_possible(from, color) ? color : Color::rgb;
}

TEST_P(NormalizeTest, RandomCases) {
  for_cases(3000, [&](Random &random) {
    const PixelFormat from = random.pick(kSourceFormats);
    const Size in = random_size(random);
    const Size out = random.chance(10) ? in : random_size(random);
    expect_as_the_oracle(random,
                         random_normalize(random, from, random_color(random, from), in, out),
                         random.pick(kAllContents));
  });
}

TEST_P(NormalizeTest, IsNearDoublePrecision) {
  for_cases(1000, [&](Random &random) {
    const PixelFormat from = random.pick(kSourceFormats);
    const NormalizeCase p = random_normalize(random, from, random_color(random, from),
                                             random_size(random), random_size(random));
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputTensor out(random, p.out);
    machine().run(*normalize_picture(machine(), p), in, out);
    expect_near_double(p, in.view(), constant(out.view()));
  });
}

/// Returns all values of parameters that do not depend on the picture.
std::vector<NormalizeCase> all_outputs(const NormalizeCase &base) {
  std::vector<NormalizeCase> all;
  for (const DType type : kTypes)
    for (const Layout layout : kLayouts)
      for (const Normalization normalization : kNormalizations)
        for (const bool round : kBools) {
          NormalizeCase p = base;
          p.out.dtype = type;
          p.out.layout = layout;
          p.normalization = normalization;
          p.round = round;
          all.push_back(p);
        }
  return all;
}

TEST_P(NormalizeTest, EveryFormatToEveryTensorInEveryWay) {
  uint64_t number = 0;
  for (const PixelFormat from : kSourceFormats)
    for (const Color color : kColors)
      for (const ResizeMode mode : kModes)
        for (const Method method : kMethods) {
          if (!is_possible(from, color)) continue;
          Random random(number++);
          SCOPED_TRACE(random.name());
          const auto size = [&] { return Size{random.integer(1, 11), random.integer(1, 9)}; };
          NormalizeCase base = random_normalize(random, from, color, size(), size());
          base.resize.mode = mode;
          base.resize.method = method;
          for (NormalizeCase &p : all_outputs(base)) {
            if (random.is_left_out()) continue;
            randomize_factors(random, p);
            expect_one_as_the_oracle(random, p);
            if (HasFailure()) return;
          }
        }
}

TEST_P(NormalizeTest, EveryColorimetryAndSiting) {
  uint64_t number = 0;
  for (const PixelFormat from : kYuvFormats)
    for (const Color color : kColors)
      for (const ColorMatrix matrix : kMatrices)
        for (const ColorRange range : kRanges)
          for (int siting = 0; siting < 4; ++siting)
            for (const ResizeMode mode : kModes)
              for (const Method method : kMethods) {
                Random random(number++);
                if (random.is_left_out()) continue;
                SCOPED_TRACE(random.name());
                const auto size = [&] { return Size{random.integer(1, 11), random.integer(1, 9)}; };
                NormalizeCase p = random_normalize(random, from, color, size(), size());
                p.source.colorimetry = {matrix, range};
                p.source.cosited_x = siting % 2 != 0;
                p.source.cosited_y = siting / 2 != 0;
                p.resize.mode = mode;
                p.resize.method = method;
                expect_one_as_the_oracle(random, p);
                if (HasFailure()) return;
              }
}

TEST_P(NormalizeTest, VideoFrames) {
  Random random(0);
  SCOPED_TRACE(random.name());
  NormalizeCase p =
      random_normalize(random, PixelFormat::NV12, Color::rgb, {1920, 1080}, {640, 640});
  p.resize = {ResizeMode::affine, Method::bilinear, 114, true};
  expect_as_the_oracle(random, p, Content::random);
  p.source.image.format = PixelFormat::BGR;
  p.resize.mode = ResizeMode::ultralytics;
  expect_as_the_oracle(random, p, Content::random);
  p.source.image.format = PixelFormat::NV12;
  p.color = Color::yuv;
  p.resize.mode = ResizeMode::stretch;
  expect_as_the_oracle(random, p, Content::random);
}

TEST_P(NormalizeTest, LongestRowsAndColumns) {
  uint64_t number = 0;
  for (const auto &[in, out] : kLongest)
    for (const PixelFormat from : {PixelFormat::I420, PixelFormat::RGB, PixelFormat::GRAY8}) {
      Random random(number++);
      SCOPED_TRACE(random.name());
      expect_one_as_the_oracle(random,
                               random_normalize(random, from, random_color(random, from), in, out));
    }
}

TEST_P(NormalizeTest, Enlarged) {
  uint64_t number = 0;
  for (const Size seed : kSeeds)
    for (const double ratio : kRatios)
      for (const ResizeMode mode : kModes)
        for (const Method method : kMethods) {
          Random random(number++);
          SCOPED_TRACE(random.name());
          const PixelFormat from = random.pick(kSourceFormats);
          NormalizeCase p = random_normalize(random, from, random_color(random, from), seed,
                                             enlarged(random, seed, ratio));
          p.resize.mode = mode;
          p.resize.method = method;
          p.resize.scale_up = true;
          expect_one_as_the_oracle(random, p);
          if (HasFailure()) return;
        }
}

/// Planes are aligned to words, or not because of their address or stride.
TEST_P(NormalizeTest, EveryWayToLie) {
  uint64_t number = 0;
  for (const PixelFormat from : kSourceFormats)
    for (const Color color : kColors)
      for (const size_t offset : {0, 1, 2, 3, 4})
        for (const ptrdiff_t gap : {0, 1, 2, 4}) {
          if (!is_possible(from, color)) continue;
          Random random(number++);
          SCOPED_TRACE(random.name());
          const NormalizeCase p =
              random_normalize(random, from, color, {random.integer(1, 11), random.integer(1, 9)},
                               {random.integer(1, 9), random.integer(1, 9)});
          // The chroma planes are aligned like the first plane, or differently.
          const Lay lay = {offset, 64, gap}, first = random.chance(50) ? Lay{} : lay;
          expect_one_as_the_oracle(random, p,
                                   InputPicture(random, p.source.image, {first, lay, lay}));
          if (HasFailure()) return;
        }
}

NormalizeCase known_params(DType type, std::vector<double> alpha, std::vector<double> beta) {
  NormalizeCase p = {};
  p.source.image = {PixelFormat::RGB, 8, 8};
  p.out = {type, Layout::nchw, 1, 3, 8, 8};
  p.normalization = Normalization::alpha_beta;
  p.alpha = std::move(alpha);
  p.beta = std::move(beta);
  return p;
}

TEST_P(NormalizeTest, Float16OverflowsToInfinity) {
  Random random(0);
  const InputPicture in(random, {PixelFormat::RGB, 8, 8}, Content::maximum);
  const auto first = [&](double alpha, double beta) {
    const NormalizeCase p = known_params(DType::float16, {alpha}, {beta});
    OutputTensor out(random, p.out);
    machine().run(*normalize_picture(machine(), p), in, out);
    return oracle::element(constant(out.view()), 0);
  };
  EXPECT_EQ(first(1000.0, 0.0), kInfinity);
  EXPECT_EQ(first(-1000.0, 0.0), -kInfinity);
  EXPECT_EQ(first(0.0, 65504.0), 65504.0);
  EXPECT_EQ(first(0.0, 65519.0), 65504.0);
  EXPECT_EQ(first(0.0, 65520.0), kInfinity);
  EXPECT_EQ(first(0.0, 0x1p-24), 0x1p-24);
  EXPECT_EQ(first(0.0, 0x1p-25), 0.0);
}

TEST_P(NormalizeTest, IntegersAreLimited) {
  Random random(0);
  const InputPicture in(random, {PixelFormat::RGB, 8, 8}, Content::maximum);
  const auto first = [&](DType type, double alpha, double beta) {
    const NormalizeCase p = known_params(type, {alpha}, {beta});
    OutputTensor out(random, p.out);
    machine().run(*normalize_picture(machine(), p), in, out);
    return oracle::element(constant(out.view()), 0);
  };
  EXPECT_EQ(first(DType::uint8, 1.0, 0.0), 255.0);
  EXPECT_EQ(first(DType::uint8, 2.0, 0.0), 255.0);
  EXPECT_EQ(first(DType::uint8, 3e38, 3e38), 255.0);
  EXPECT_EQ(first(DType::uint8, -1.0, 0.0), 0.0);
  EXPECT_EQ(first(DType::uint8, 0.5, 0.0), 128.0);  // 127.5 rounds up
  EXPECT_EQ(first(DType::int8, 1.0, -128.0), 127.0);
  EXPECT_EQ(first(DType::int8, 1.0, 0.0), 127.0);
  EXPECT_EQ(first(DType::int8, -1.0, 0.0), -128.0);
  EXPECT_EQ(first(DType::int8, -3e38, -3e38), -128.0);
  EXPECT_EQ(first(DType::int8, -0.5, 0.0), -127.0);  // -127.5 rounds up
}

/// Returns parameters for a row of all samples, each times `alpha` plus `beta`.
NormalizeCase row_params(DType type, double alpha, double beta) {
  NormalizeCase p = {};
  p.source.image = {PixelFormat::GRAY8, 256, 1};
  p.color = Color::gray;
  p.out = {type, Layout::nchw, 1, 1, 1, 256};
  p.normalization = Normalization::alpha_beta;
  p.alpha = {alpha};
  p.beta = {beta};
  return p;
}

/// Around a few numbers of every exponent, tests 64 steps to each of the next four numbers, which
/// include the midpoints. Subnormal numbers and those beyond the largest are included.
TEST_P(NormalizeTest, Float16OfEveryExponent) {
  Random random(0);
  const InputPicture row(random, {PixelFormat::GRAY8, 256, 1}, Content::ramp);
  for (int exponent = -28; exponent <= 16; ++exponent)
    for (const double mantissa : {1.0, 1.0 + 0x1p-10, 1.5, 2.0 - 0x1p-9, 2.0 - 0x1p-10})
      for (const double sign : {1.0, -1.0}) {
        const double step = std::ldexp(1.0, std::max(exponent, -14) - 10 - 6);
        const NormalizeCase p =
            row_params(DType::float16, sign * step, sign * std::ldexp(mantissa, exponent));
        expect_one_as_the_oracle(random, p, row);
        if (HasFailure()) return;
      }
}

/// Tests halves, numbers just below them, and the ends of the range.
TEST_P(NormalizeTest, IntegersOfEverySampleAroundTies) {
  Random random(0);
  const InputPicture row(random, {PixelFormat::GRAY8, 256, 1}, Content::ramp);
  const double below_half = 0.5 - 0x1p-25;
  for (const DType type : {DType::uint8, DType::int8})
    for (const double alpha : {1.0, 0.5, 0.25, 1.5, -1.0, -0.5, 1.0 + 0x1p-23, 1.0 - 0x1p-24, 0.0})
      for (const double beta : {0.0, -0.0, 0.5, -0.5, below_half, -below_half, -127.5, -128.0,
                                -128.5, 126.5, 127.5, 254.5, 255.5, 255.0, 8388607.5, -1e30, 1e30})
        for (const bool round : kBools) {
          NormalizeCase p = row_params(type, alpha, beta);
          p.round = round;
          expect_one_as_the_oracle(random, p, row);
          if (HasFailure()) return;
        }
}

/// Also tests the signs: limited colours are never -0, but products may be.
TEST_P(NormalizeTest, Zeros) {
  uint64_t number = 0;
  for (const PixelFormat from :
       {PixelFormat::NV12, PixelFormat::Y444, PixelFormat::RGB, PixelFormat::GRAY8})
    for (const Color color : {Color::rgb, Color::gray})
      for (const Content content : {Content::zeros, Content::maximum, Content::checkered})
        for (const DType type : {DType::float32, DType::float16, DType::bfloat16})
          for (const double alpha : {1.0, -1.0, 0.0, -0.0})
            for (const double beta : {0.0, -0.0}) {
              Random random(number++);
              if (random.is_left_out()) continue;
              SCOPED_TRACE(random.name());
              NormalizeCase p = random_normalize(random, from, color, {6, 5}, {7, 9});
              p.out.dtype = type;
              p.normalization = Normalization::alpha_beta;
              p.alpha = {alpha};
              p.beta = {beta};
              p.resize.pad_value = 0;
              expect_one_as_the_oracle(random, p, InputPicture(random, p.source.image, content));
              if (HasFailure()) return;
            }
}

/// The defaults: 0..1 for float types, the samples themselves for integers.
TEST_P(NormalizeTest, ScaleIsAutomatic) {
  Random random(0);
  for (const DType type : kTypes) {
    NormalizeCase p = {};
    p.source.image = {PixelFormat::RGB, 8, 8};
    p.out = {type, Layout::nchw, 1, 3, 8, 8};
    const InputPicture in(random, p.source.image, Content::maximum);
    OutputTensor out(random, p.out);
    machine().run(*normalize_picture(machine(), p), in, out);
    const double expected = type == DType::uint8 ? 255.0 : type == DType::int8 ? 127.0 : 1.0;
    EXPECT_EQ(oracle::element(constant(out.view()), 0), expected);
  }
}

TEST_P(NormalizeTest, ChannelsAreInOrder) {
  for (const Layout layout : kLayouts)
    for (const Color color : {Color::rgb, Color::bgr}) {
      Random random(0);
      NormalizeCase p = known_params(DType::float32, {1.0}, {0.0, 1000.0, 2000.0});
      p.out.layout = layout;
      p.color = color;
      const InputPicture in(random, p.source.image);
      OutputTensor out(random, p.out);
      machine().run(*normalize_picture(machine(), p), in, out);
      const std::string letters = color == Color::rgb ? "RGB" : "BGR";
      for (int c = 0; c < 3; ++c) {
        const int64_t index = layout != Layout::nhwc ? c * 64 + 2 * 8 + 5 : (2 * 8 + 5) * 3 + c;
        EXPECT_EQ(oracle::element(constant(out.view()), index),
                  oracle::sample(in.view(), letters[static_cast<size_t>(c)], 5, 2) + 1000.0 * c);
      }
    }
}

/// With more than eight bits, the range 16-235 reaches 255.75.
TEST_P(NormalizeTest, ARoundedComponentIsAtMost255) {
  Random random(0);
  for (const PixelFormat format : kDeepFormats) {
    if (!is_possible(format, Color::yuv)) continue;
    NormalizeCase p = random_normalize(random, format, Color::yuv, {40, 30}, {33, 21});
    p.source.colorimetry.range = ColorRange::limited;
    p.resize.mode = ResizeMode::stretch;
    p.out.dtype = DType::float32;
    p.normalization = Normalization::alpha_beta;
    p.alpha = {1.0};
    p.beta = {0.0};
    p.pad_normalized = false;
    InputPicture in(random, p.source.image);
    in.fill(255);
    for (const bool round : kBools) {
      p.round = round;
      SCOPED_TRACE(text_of(p));
      OutputTensor out(random, p.out);
      machine().run(*normalize_picture(machine(), p), in, out);
      const double most = 256.0 - std::exp2(8 - oracle::format_of(format).bits);
      for (const int64_t i : {0, 33 * 21, 3 * 33 * 21 - 1})
        EXPECT_EQ(oracle::element(constant(out.view()), i), round ? 255.0 : most);
    }
  }
}

TEST_P(NormalizeTest, EqualsALetterboxThenARoundedNormalize) {
  const std::vector<PixelFormat> between = {PixelFormat::RGB, PixelFormat::BGRx, PixelFormat::ARGB,
                                            PixelFormat::BGRP};
  for_cases(400, [&](Random &random) {
    const Size in_size = random_size(random), size = random_size(random);
    NormalizeCase whole =
        random_normalize(random, random.pick(kSourceFormats),
                         random.chance(50) ? Color::rgb : Color::bgr, in_size, size);
    whole.round = true;
    SCOPED_TRACE(text_of(whole));
    const ImageDesc middle = {random.pick(between), size.width, size.height};
    NormalizeCase second = whole;
    second.source = {middle, {}};
    second.resize = {};
    second.round = false;
    const InputPicture in(random, whole.source.image);
    InputPicture boxed(random, middle);
    OutputPicture boxed_out(random, middle);
    machine().run(*machine()->letterbox({whole.source, middle, whole.resize}), in, boxed_out);
    boxed.assign(constant(boxed_out.view()));
    OutputTensor expected(random, whole.out);
    machine().run(*normalize_picture(machine(), second), boxed, expected);
    expected.adopt();
    expect_one(machine(), *normalize_picture(machine(), whole), in, expected);
  });
}

TEST_P(NormalizeTest, EqualsYuv444ThenNormalize) {
  for_cases(300, [&](Random &random) {
    const Size in_size = random_size(random), size = random_size(random);
    NormalizeCase whole =
        random_normalize(random, random.pick(kYuvFormats), Color::yuv, in_size, size);
    whole.resize.mode = ResizeMode::stretch;
    whole.resize.method = Method::bilinear;
    SCOPED_TRACE(text_of(whole));
    const ImageDesc middle = {PixelFormat::Y444, size.width, size.height};
    NormalizeCase second = whole;
    second.source = {middle, {}};
    const InputPicture in(random, whole.source.image);
    InputPicture resized(random, middle);
    OutputPicture resized_out(random, middle);
    const Yuv444Params first = {whole.source.image,    middle, size.width, size.height, 0, 0, {},
                                whole.source.direction};
    machine().run(*machine()->yuv444(first), in, resized_out);
    resized.assign(constant(resized_out.view()));
    OutputTensor expected(random, whole.out);
    machine().run(*normalize_picture(machine(), second), resized, expected);
    expected.adopt();
    expect_one(machine(), *normalize_picture(machine(), whole), in, expected);
  });
}

// ------------------------------------------------------------------------------------ refusals

class NormalizeRefusalTest : public NormalizeTest {
 protected:
  template <class Change>
  void refused(const char *cause, Change change) const {
    NormalizeCase p = good();
    change(p);
    SCOPED_TRACE(text_of(p));
    expect_refusal(Error::Code::settings, cause, [&] { normalize_picture(machine(), p); });
  }

  template <class Change>
  void accepted(Change change) const {
    NormalizeCase p = good();
    change(p);
    SCOPED_TRACE(text_of(p));
    EXPECT_NO_THROW(normalize_picture(machine(), p));
  }

  static NormalizeCase good() {
    NormalizeCase p = {};
    p.source.image = {PixelFormat::NV12, 64, 48};
    p.out = {DType::float32, Layout::nchw, 1, 3, 10, 20};
    return p;
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(NormalizeRefusalTest);

/// Expects a refusal, which names `name`, for every invalid value of `list`.
#define EXPECT_LIST_REFUSED(list, name, normalizing)              \
  for (const std::vector<double> &wrong : wrong_lists())          \
    refused(name, [&](auto &p) {                                  \
      p.normalization = normalizing;                              \
      p.list = wrong;                                             \
    });                                                           \
  refused(name, [&](auto &p) { /* three values for one channel */ \
                               p.normalization = normalizing;     \
                               p.color = Color::gray;             \
                               p.out.c = 1;                       \
                               p.list = {1.0, 2.0, 3.0};          \
  })

std::vector<std::vector<double>> wrong_lists() {
  return {{},
          {1.0, 2.0},
          {1.0, 2.0, 3.0, 4.0},
          {std::nan("")},
          {kInfinity},
          {1.0, 2.0, -kInfinity},
          {1.0, std::nan(""), 3.0}};
}

TEST_P(NormalizeRefusalTest, Lists) {
  accepted([](auto &) {});
  EXPECT_LIST_REFUSED(mean, "mean", Normalization::mean_std);
  EXPECT_LIST_REFUSED(std, "std", Normalization::mean_std);
  EXPECT_LIST_REFUSED(alpha, "alpha", Normalization::alpha_beta);
  EXPECT_LIST_REFUSED(beta, "beta", Normalization::alpha_beta);
}

TEST_P(NormalizeRefusalTest, InvalidFactors) {
  refused("std is 0", [](auto &p) { p.std = {0.0}; });
  refused("std is 0", [](auto &p) { p.std = {-0.0}; });
  refused("std is 0", [](auto &p) { p.std = {1.0, 2.0, 0.0}; });
  refused("scale", [](auto &p) { p.scale = std::nan(""); });
  refused("scale", [](auto &p) { p.scale = -kInfinity; });
  // An unused scale is refused, too.
  refused("scale", [](auto &p) {
    p.scale = std::nan("");
    p.normalization = Normalization::alpha_beta;
  });
}

TEST_P(NormalizeRefusalTest, FactorsBeyondFloat32) {
  const auto alpha_beta = [](NormalizeCase &p, double alpha, double beta) {
    p.normalization = Normalization::alpha_beta;
    p.alpha = {alpha};
    p.beta = {beta};
  };
  refused("scale", [](auto &p) { p.scale = 1e300; });
  refused("mean", [](auto &p) { p.mean = {1e39}; });
  refused("std", [](auto &p) { p.std = {1e-45}; });
  refused("std", [](auto &p) { p.std = {1.0, 1.0, 1e-308}; });
  refused("alpha", [&](auto &p) { alpha_beta(p, 1e39, 0.0); });
  refused("beta", [&](auto &p) { alpha_beta(p, 0.0, -1e39); });
  refused("alpha", [&](auto &p) { alpha_beta(p, 3.41e38, 0.0); });
  accepted([&](auto &p) { alpha_beta(p, 3.4e38, -3.4e38); });
  accepted([](auto &p) { p.std = {1e300}; });
}

TEST_P(NormalizeRefusalTest, Sizes) {
  refused("0x48", [](auto &p) { p.source.image.width = 0; });
  refused("64x32768", [](auto &p) { p.source.image.height = 32768; });
  refused("0x10", [](auto &p) { p.out.w = 0; });
  refused("20x0", [](auto &p) { p.out.h = 0; });
  refused("-20x10", [](auto &p) { p.out.w = -20; });
  refused("32768x10", [](auto &p) { p.out.w = 32768; });
  refused("20x32768", [](auto &p) { p.out.h = 32768; });
  // The upper half of the number must not be ignored.
  refused("4294967316", [](auto &p) { p.out.w += int64_t{1} << 32; });
  refused("4294967306", [](auto &p) { p.out.h += int64_t{1} << 32; });
  const auto yuv = [](NormalizeCase &p) { p.color = Color::yuv; };
  refused("0x10", [&](auto &p) { yuv(p), p.out.w = 0; });
  refused("20x32768", [&](auto &p) { yuv(p), p.out.h = 32768; });
  refused("4294967316", [&](auto &p) { yuv(p), p.out.w += int64_t{1} << 32; });
}

TEST_P(NormalizeRefusalTest, Shapes) {
  refused("channels", [](auto &p) { p.out.c = 1; });
  refused("channels", [](auto &p) { p.out.c = 4; });
  refused("channels", [](auto &p) { p.color = Color::gray; });
  refused("batch", [](auto &p) { p.out.n = 0; });
}

TEST_P(NormalizeRefusalTest, PadValues) {
  for (const ResizeMode mode : kModes)
    for (const int pad : {-1, 256})
      refused("pad-value", [&](auto &p) {
        p.resize.mode = mode;
        p.resize.pad_value = pad;
      });
}

TEST_P(NormalizeRefusalTest, YuvFromOtherFormats) {
  for (const PixelFormat format : kSourceFormats)
    for (const ResizeMode mode : kModes)
      for (const Method method : kMethods) {
        if (is_possible(format, Color::yuv)) continue;
        refused("yuv", [&](auto &p) {
          p.source.image.format = format;
          p.color = Color::yuv;
          p.resize.mode = mode;
          p.resize.method = method;
        });
      }
}

}  // namespace
}  // namespace cudatensor
