// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/yuv444.h"

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

class Yuv444Test : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const Yuv444Params &p, Content content) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture other(random, p.in), in(random, p.in, content);
    OutputPicture out(random, p.out);
    oracle::yuv444(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return machine->yuv444(p); }, other, in, out);
  }

  /// Compares on one random machine only.
  void expect_one_as_the_oracle(Random &random, const Yuv444Params &p, const Lays &in_lays,
                                const Lays &out_lays) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.in, in_lays);
    OutputPicture out(random, p.out, out_lays);
    oracle::yuv444(p, in.view(), out.expected());
    const Machine &machine = any(random);
    SCOPED_TRACE(machine.name());
    expect_one(machine, *machine->yuv444(p), in, out);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(Yuv444Test);

/// Returns a resize with a crop that may be the whole picture.
Yuv444Params random_params(Random &random, PixelFormat format) {
  const Size in = random_size(random);
  const Size resized = random.chance(20) ? in : random_size(random);
  const Rect crop = random_rect(random, resized.width, resized.height);
  return {{format, in.width, in.height},
          {PixelFormat::Y444, crop.width, crop.height},
          resized.width,
          resized.height,
          crop.x,
          crop.y,
          {},
          random.pick(kDirections)};
}

Yuv444Params whole(ImageDesc in, int width, int height, Direction direction = {}) {
  return {in, {PixelFormat::Y444, width, height}, width, height, 0, 0, {}, direction};
}

TEST_P(Yuv444Test, RandomCases) {
  for_cases(3000, [&](Random &random) {
    expect_as_the_oracle(random, random_params(random, random.pick(kYuvFormats)),
                         random.pick(kAllContents));
  });
}

TEST_P(Yuv444Test, AllSmallSizes) {
  uint64_t number = 0;
  for (const PixelFormat format : kYuvFormats)
    for (int sizes = 0; sizes < 5 * 5 * 5 * 5; ++sizes, ++number) {
      Random random(number);
      if (random.is_left_out(25)) continue;
      SCOPED_TRACE(random.name());
      expect_as_the_oracle(
          random,
          whole({format, 1 + sizes % 5, 1 + sizes / 5 % 5}, 1 + sizes / 25 % 5, 1 + sizes / 125),
          Content::random);
      if (HasFailure()) return;
    }
}

TEST_P(Yuv444Test, EqualSizesReplicateChroma) {
  for_cases(100, [&](Random &random) {
    const Size size = random_size(random);
    const Yuv444Params p =
        whole({PixelFormat::NV12, size.width, size.height}, size.width, size.height);
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.in);
    OutputPicture out(random, p.out);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (const char letter : {'Y', 'U', 'V'})
          *oracle::address(out.expected(), letter, x, y) =
              letter == 'Y' ? oracle::sample(in.view(), letter, x, y)
                            : oracle::sample(in.view(), letter, x / 2, y / 2);
    const auto operation = any(random)->yuv444(p);
    expect_one(machine(), *operation, in, out);
  });
}

/// Returns parameters that copy a part of the picture without a resize. The copy can use words if
/// the part is aligned to them.
Yuv444Params part(ImageDesc in, const Rect &crop) {
  return {in, {PixelFormat::Y444, crop.width, crop.height}, in.width, in.height, crop.x, crop.y};
}

TEST_P(Yuv444Test, EveryPlaceOfAWordWithoutAResize) {
  uint64_t number = 0;
  for (const PixelFormat format : kYuvFormats)
    for (int x = 0; x <= 8; ++x)
      for (const int width : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 127, 128, 132})
        for (const Lay lay :
             {Lay{}, Lay{4, 4, 0}, Lay{2, 64, 0}, Lay{1, 64, 0}, Lay{0, 64, 1}, Lay{0, 64, 2}}) {
          Random random(number++);
          if (random.is_left_out(25)) continue;
          SCOPED_TRACE(random.name());
          const int y = random.integer(0, 3), height = random.integer(1, 9);
          const ImageDesc in = {format, x + width + random.integer(0, 3),
                                y + height + random.integer(0, 2)};
          const Lay first = random.chance(50) ? Lay{} : lay;
          const Lays out = random.chance(50) ? Lays{} : random_lays(random);
          expect_one_as_the_oracle(random, part(in, {x, y, width, height}), {first, lay, lay}, out);
          if (HasFailure()) return;
        }
}

TEST_P(Yuv444Test, RandomCasesWithoutAResize) {
  for_cases(2000, [&](Random &random) {
    const auto length = [&](int most) {
      const int n = random.integer(1, most);
      return random.chance(60) ? (n + 3) / 4 * 4 : n;
    };
    const int x = random.chance(60) ? 4 * random.integer(0, 5) : random.integer(0, 20);
    const Rect crop = {x, random.integer(0, 9), length(140), length(20)};
    const ImageDesc in = {random.pick(kYuvFormats), crop.x + crop.width + random.integer(0, 5),
                          crop.y + crop.height + random.integer(0, 5)};
    const Lays in_lays = random.chance(40) ? Lays{} : random_lays(random),
               out_lays = random.chance(40) ? Lays{} : random_lays(random);
    expect_one_as_the_oracle(random, part(in, crop), in_lays, out_lays);
  });
}

/// Such ratios read every second or third column or row without weights, but do not copy rows.
TEST_P(Yuv444Test, WholeRatios) {
  uint64_t number = 0;
  for (const PixelFormat format : kYuvFormats)
    for (const int rx : {1, 2, 3, 5})
      for (const int ry : {1, 2, 3, 5})
        for (const int width : {4, 7, 8, 36}) {
          Random random(number++);
          SCOPED_TRACE(random.name());
          const int height = random.integer(1, 9);
          expect_one_as_the_oracle(random, whole({format, rx * width, ry * height}, width, height),
                                   random.chance(50) ? Lays{} : random_lays(random), {});
          if (HasFailure()) return;
        }
}

TEST_P(Yuv444Test, SmallOutputsHoweverTheyLie) {
  uint64_t number = 0;
  for (const PixelFormat format : kYuvFormats)
    for (int width = 1; width <= 9; ++width)
      for (int height = 1; height <= 9; ++height) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const ImageDesc in = {format, random.integer(1, 13), random.integer(1, 13)};
        expect_one_as_the_oracle(random, whole(in, width, height), random_lays(random),
                                 random.chance(30) ? Lays{} : random_lays(random));
        if (HasFailure()) return;
      }
}

TEST_P(Yuv444Test, Enlarged) {
  uint64_t number = 0;
  for (const PixelFormat format : kYuvFormats)
    for (const Size seed : kSeeds)
      for (const double ratio : kRatios) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const Size out = enlarged(random, seed, ratio);
        expect_one_as_the_oracle(random,
                                 whole({format, seed.width, seed.height}, out.width, out.height),
                                 random_lays(random), random_lays(random));
        if (HasFailure()) return;
      }
}

TEST_P(Yuv444Test, ACropOfTheResizeIsTheResizeWithACrop) {
  for_cases(200, [&](Random &random) {
    const Yuv444Params cropped = random_params(random, random.pick(kYuvFormats));
    SCOPED_TRACE(text_of(cropped));
    const Yuv444Params all =
        whole(cropped.in, cropped.resize_width, cropped.resize_height, cropped.direction);
    const InputPicture in(random, cropped.in);
    OutputPicture big(random, all.out), small(random, cropped.out);
    machine().run(*machine()->yuv444(all), in, big);
    for (int y = 0; y < cropped.out.height; ++y)
      for (int x = 0; x < cropped.out.width; ++x)
        for (const char letter : {'Y', 'U', 'V'})
          *oracle::address(small.expected(), letter, x, y) =
              *oracle::address(big.view(), letter, cropped.crop_x + x, cropped.crop_y + y);
    expect_one(machine(), *machine()->yuv444(cropped), in, small);
  });
}

/// Luma equals bilinear interpolation with half-pixel centres, except for the last bit and for the
/// truncated scale, which moves the last of a hundred pixels by less than 1/2000.
TEST_P(Yuv444Test, LumaIsNearDoublePrecision) {
  for_cases(500, [&](Random &random) {
    const Size in_size = random_size(random), size = random_size(random);
    const Yuv444Params p =
        whole({random.pick(kYuvFormats), in_size.width, in_size.height}, size.width, size.height);
    SCOPED_TRACE(text_of(p));
    Source source = {};
    source.image = p.in;
    const InputPicture in(random, p.in);
    OutputPicture out(random, p.out);
    machine().run(*machine()->yuv444(p), in, out);
    const oracle::Resampler resampler(in.view(), source, {}, Color::yuv, size.width, size.height);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        ASSERT_NEAR(*oracle::address(out.view(), 'Y', x, y), resampler.precise(x, y)[0], 1.5)
            << x << "," << y;
  });
}

TEST_P(Yuv444Test, VideoFrames) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const ImageDesc in = {PixelFormat::NV12, 1920, 1080};
  expect_as_the_oracle(random, whole(in, 640, 360), Content::random);
  expect_as_the_oracle(random, {in, {PixelFormat::Y444, 512, 512}, 911, 512, 199, 0},
                       Content::random);
  expect_as_the_oracle(random, whole({PixelFormat::I420, 320, 180}, 1279, 719), Content::ramp);
}

TEST_P(Yuv444Test, LongestRowsAndColumns) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (const auto &[in, out] : kLongest) {
    const ImageDesc desc = {random.pick(kYuvFormats), in.width, in.height};
    expect_as_the_oracle(random, whole(desc, out.width, out.height), Content::random);
  }
}

TEST_P(Yuv444Test, RefusesWhatItCannotDo) {
  const Yuv444Params good = {
      {PixelFormat::NV12, 64, 48}, {PixelFormat::Y444, 20, 10}, 32, 24, 5, 6};
  const auto refused = [&](const char *cause, auto change) {
    Yuv444Params p = good;
    change(p);
    expect_refusal(Error::Code::settings, cause, [&] { machine()->yuv444(p); });
  };
  EXPECT_NO_THROW(machine()->yuv444(good));
  refused("crop-x", [](auto &p) { p.crop_x = 13; });
  refused("crop-x", [](auto &p) { p.crop_x = -1; });
  refused("crop-x", [](auto &p) { p.crop_x = 2147483647; });
  refused("crop-y", [](auto &p) { p.crop_y = 15; });
  refused("crop-y", [](auto &p) { p.crop_y = -1; });
  refused("crop-x", [](auto &p) { p.resize_width = 24; });
  refused("0x48", [](auto &p) { p.in.width = 0; });
  refused("64x32768", [](auto &p) { p.in.height = 32768; });
  refused("0x10", [](auto &p) { p.out.width = 0; });
  refused("20x-1", [](auto &p) { p.out.height = -1; });
  refused("32768x24", [](auto &p) { p.resize_width = 32768; });
  refused("32x0", [](auto &p) { p.resize_height = 0; });
  for (const PixelFormat format : kAllFormats)
    if (!oracle::format_of(format).is_yuv() || oracle::format_of(format).bits > 8)
      refused(oracle::format_of(format).name, [&](auto &p) { p.in.format = format; });
}

TEST_P(Yuv444Test, RefusesAnOutputThatIsNotY444) {
  for (const PixelFormat format : kAllFormats) {
    if (format == PixelFormat::Y444) continue;
    const Yuv444Params p = {{PixelFormat::NV12, 64, 48}, {format, 32, 24}, 32, 24, 0, 0};
    expect_refusal(Error::Code::settings, oracle::format_of(format).name,
                   [&] { machine()->yuv444(p); });
  }
}

}  // namespace
}  // namespace cudatensor
