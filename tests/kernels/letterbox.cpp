// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/letterbox.h"

#include <algorithm>
#include <cmath>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

/// Expects every sample to differ from double precision only by rounding.
void expect_near_double(const LetterboxParams &p, const ConstImage &in, const ConstImage &out) {
  const oracle::Format &format = oracle::format_of(p.out.format);
  const oracle::Resampler resampler(in, p.source, p.resize,
                                    format.is_gray() ? Color::gray : Color::rgb, p.out.width,
                                    p.out.height);
  for (int y = 0; y < p.out.height; ++y)
    for (int x = 0; x < p.out.width; ++x) {
      const oracle::PreciseTriple precise = resampler.precise(x, y);
      for (size_t c = 0; c < format.components.size(); ++c)
        if (std::fabs(oracle::sample(out, format.components[c], x, y) - precise[c]) > 0.5 + 1e-3)
          FAIL() << "component " << c << " at " << x << "," << y << ": "
                 << int{oracle::sample(out, format.components[c], x, y)} << " is far from "
                 << precise[c];
    }
}

class LetterboxTest : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const LetterboxParams &p, Content content) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture other(random, p.source.image), in(random, p.source.image, content);
    OutputPicture out(random, p.out);
    oracle::letterbox(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return machine->letterbox(p); }, other, in, out);
  }

  /// The same on one random machine only.
  void expect_one_as_the_oracle(Random &random, const LetterboxParams &p) const {
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputPicture out(random, p.out);
    expect_one_as_the_oracle(random, p, in, out);
  }
  void expect_one_as_the_oracle(Random &random, const LetterboxParams &p, const InputPicture &in,
                                OutputPicture &out) const {
    SCOPED_TRACE(text_of(p));
    oracle::letterbox(p, in.view(), out.expected());
    const Machine &machine = any(random);
    expect_one(machine, *machine->letterbox(p), in, out);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(LetterboxTest);

LetterboxParams random_params(Random &random, PixelFormat from, PixelFormat to) {
  const Size in = random_size(random);
  const Size out = random.chance(10) ? in : random_size(random);
  return {random_source(random, from, in), {to, out.width, out.height}, random_resize(random)};
}

TEST_P(LetterboxTest, RandomCases) {
  for_cases(3000, [&](Random &random) {
    const PixelFormat from = random.pick(kSourceFormats), to = random.pick(kLetterboxFormats);
    expect_as_the_oracle(random, random_params(random, from, to), random.pick(kAllContents));
  });
}

/// Planes are aligned to words, or not because of their address or stride.
TEST_P(LetterboxTest, SmallOutputsHoweverTheyLie) {
  uint64_t number = 0;
  for (const PixelFormat to : kLetterboxFormats)
    for (int width = 1; width <= 9; ++width)
      for (int height = 1; height <= 9; ++height) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const Size size = {random.integer(1, 13), random.integer(1, 11)};
        const LetterboxParams p = {random_source(random, random.pick(kSourceFormats), size),
                                   {to, width, height},
                                   random_resize(random)};
        const InputPicture in(random, p.source.image, random_lays(random));
        OutputPicture out(random, p.out, random.chance(30) ? Lays{} : random_lays(random));
        expect_one_as_the_oracle(random, p, in, out);
        if (HasFailure()) return;
      }
}

TEST_P(LetterboxTest, EveryWayToLie) {
  uint64_t number = 0;
  for (const PixelFormat from : kSourceFormats)
    for (const PixelFormat to : kLetterboxFormats)
      for (const Lay lay : {Lay{}, Lay{4, 4, 0}, Lay{2, 64, 0}, Lay{1, 64, 0}, Lay{8, 64, 8},
                            Lay{0, 64, 1}, Lay{0, 64, 2}, Lay{0, 64, 4}}) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const Size size = {random.integer(1, 13), random.integer(1, 11)};
        const LetterboxParams p = {random_source(random, from, size),
                                   {to, random.integer(1, 21), random.integer(1, 7)},
                                   random_resize(random)};
        // All planes are aligned like this, or only the last one, which is chroma.
        const Lay first = random.chance(50) ? Lay{} : lay;
        const InputPicture in(random, p.source.image, {first, lay, lay});
        OutputPicture out(random, p.out, {first, first, lay});
        expect_one_as_the_oracle(random, p, in, out);
        if (HasFailure()) return;
      }
}

TEST_P(LetterboxTest, Enlarged) {
  uint64_t number = 0;
  for (const Size seed : kSeeds)
    for (const double ratio : kRatios)
      for (const ResizeMode mode : kModes)
        for (const Method method : kMethods) {
          Random random(number++);
          SCOPED_TRACE(random.name());
          const Size size = enlarged(random, seed, ratio);
          const LetterboxParams p = {random_source(random, random.pick(kSourceFormats), seed),
                                     {random.pick(kLetterboxFormats), size.width, size.height},
                                     {mode, method, random.integer(0, 255), true}};
          expect_one_as_the_oracle(random, p);
          if (HasFailure()) return;
        }
}

TEST_P(LetterboxTest, IsNearDoublePrecision) {
  for_cases(1000, [&](Random &random) {
    const PixelFormat from = random.pick(kSourceFormats), to = random.pick(kLetterboxFormats);
    const LetterboxParams p = random_params(random, from, to);
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputPicture out(random, p.out);
    machine().run(*machine()->letterbox(p), in, out);
    expect_near_double(p, in.view(), constant(out.view()));
  });
}

TEST_P(LetterboxTest, EveryFormatToEveryFormatInEveryWay) {
  uint64_t number = 0;
  for (const PixelFormat from : kSourceFormats)
    for (const PixelFormat to : kLetterboxFormats)
      for (const ResizeMode mode : kModes)
        for (const Method method : kMethods)
          for (const bool scale_up : kBools) {
            Random random(number++);
            if (random.is_left_out()) continue;
            SCOPED_TRACE(random.name());
            LetterboxParams p = random_params(random, from, to);
            p.resize.mode = mode;
            p.resize.method = method;
            p.resize.scale_up = scale_up;
            expect_one_as_the_oracle(random, p);
            if (HasFailure()) return;
          }
}

TEST_P(LetterboxTest, EveryColorimetryAndSiting) {
  uint64_t number = 0;
  for (const PixelFormat from : kYuvFormats)
    for (const PixelFormat to : {PixelFormat::RGB, PixelFormat::BGRP, PixelFormat::GRAY8})
      for (const ColorMatrix matrix : kMatrices)
        for (const ColorRange range : kRanges)
          for (int siting = 0; siting < 4; ++siting)
            for (const ResizeMode mode : kModes)
              for (const Method method : kMethods) {
                Random random(number++);
                if (random.is_left_out()) continue;
                SCOPED_TRACE(random.name());
                LetterboxParams p = random_params(random, from, to);
                p.source.colorimetry = {matrix, range};
                p.source.cosited_x = siting % 2 != 0;
                p.source.cosited_y = siting / 2 != 0;
                p.resize.mode = mode;
                p.resize.method = method;
                expect_one_as_the_oracle(random, p);
                if (HasFailure()) return;
              }
}

TEST_P(LetterboxTest, VideoFrames) {
  Random random(0);
  SCOPED_TRACE(random.name());
  LetterboxParams p = random_params(random, PixelFormat::NV12, PixelFormat::RGB);
  p.source.image = {PixelFormat::NV12, 1920, 1080};
  p.out = {PixelFormat::RGB, 640, 640};
  p.resize = {ResizeMode::affine, Method::bilinear, 114, true};
  expect_as_the_oracle(random, p, Content::random);
  p.source.image = {PixelFormat::BGRx, 639, 481};
  p.out = {PixelFormat::BGRP, 1280, 720};
  p.resize.mode = ResizeMode::ultralytics;
  expect_as_the_oracle(random, p, Content::random);
}

TEST_P(LetterboxTest, LongestRowsAndColumns) {
  uint64_t number = 0;
  for (const auto &[in, out] : kLongest)
    for (const PixelFormat from : {PixelFormat::NV12, PixelFormat::ARGB}) {
      Random random(number++);
      SCOPED_TRACE(random.name());
      LetterboxParams p = random_params(random, from, random.pick(kLetterboxFormats));
      p.source.image = {from, in.width, in.height};
      p.out.width = out.width;
      p.out.height = out.height;
      expect_one_as_the_oracle(random, p);
    }
}

TEST_P(LetterboxTest, PadsWithThePadValue) {
  for (const int pad : {0, 1, 114, 254, 255})
    for (const PixelFormat to : {PixelFormat::RGBx, PixelFormat::GRAY8}) {
      Random random(static_cast<uint64_t>(pad));
      LetterboxParams p = random_params(random, PixelFormat::GRAY8, to);
      p.source.image = {PixelFormat::GRAY8, 16, 4};
      p.source.direction = Direction::identity;
      p.out = {to, 16, 16};
      p.resize = {ResizeMode::ultralytics, Method::bilinear, pad, true};
      const InputPicture in(random, p.source.image);
      OutputPicture out(random, p.out);
      machine().run(*machine()->letterbox(p), in, out);
      const ConstImage picture = constant(out.view());
      const char letter = to == PixelFormat::GRAY8 ? 'Y' : 'G';
      EXPECT_EQ(oracle::sample(picture, letter, 0, 0), pad);
      EXPECT_EQ(oracle::sample(picture, letter, 15, 5), pad);
      EXPECT_EQ(oracle::sample(picture, letter, 3, 6), oracle::sample(in.view(), 'Y', 3, 0));
      EXPECT_EQ(oracle::sample(picture, letter, 15, 10), pad);
      if (to == PixelFormat::GRAY8) continue;
      EXPECT_EQ(oracle::sample(picture, 'x', 0, 0), 255);
    }
}

TEST_P(LetterboxTest, GreyInputHasNoRange) {
  Random random(0);
  for (const ColorRange range : kRanges) {
    LetterboxParams p = random_params(random, PixelFormat::GRAY8, PixelFormat::RGB);
    p.source.image = {PixelFormat::GRAY8, 16, 16};
    p.source.colorimetry.range = range;
    p.source.direction = Direction::identity;
    p.out = {PixelFormat::RGB, 16, 16};
    p.resize = {};
    const InputPicture in(random, p.source.image, Content::ramp);
    OutputPicture out(random, p.out);
    machine().run(*machine()->letterbox(p), in, out);
    for (int x = 0; x < 16; ++x)
      for (const char letter : {'R', 'G', 'B'})
        EXPECT_EQ(*oracle::address(out.view(), letter, x, x), oracle::sample(in.view(), 'Y', x, x));
  }
}

TEST_P(LetterboxTest, RefusesWhatItCannotDo) {
  Random random(0);
  LetterboxParams good = random_params(random, PixelFormat::NV12, PixelFormat::RGB);
  good.source.image = {PixelFormat::NV12, 64, 48};
  good.out = {PixelFormat::RGB, 20, 10};
  EXPECT_NO_THROW(machine()->letterbox(good));
  const auto refused = [&](const char *cause, auto change) {
    LetterboxParams p = good;
    change(p);
    expect_refusal(Error::Code::settings, cause, [&] { machine()->letterbox(p); });
  };
  refused("0x48", [](auto &p) { p.source.image.width = 0; });
  refused("-1x48", [](auto &p) { p.source.image.width = -1; });
  refused("64x32768", [](auto &p) { p.source.image.height = 32768; });
  refused("0x10", [](auto &p) { p.out.width = 0; });
  refused("32768x10", [](auto &p) { p.out.width = 32768; });
  refused("20x-5", [](auto &p) { p.out.height = -5; });
  refused("pad-value", [](auto &p) { p.resize.pad_value = -1; });
  refused("pad-value", [](auto &p) { p.resize.pad_value = 256; });
  for (const PixelFormat format : kAllFormats)
    if (oracle::format_of(format).is_yuv() || oracle::format_of(format).bits > 8)
      refused(oracle::format_of(format).name, [&](auto &p) { p.out.format = format; });
}

}  // namespace
}  // namespace cudatensor
