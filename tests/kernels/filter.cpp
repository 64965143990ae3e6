// SPDX-License-Identifier: LGPL-2.1-or-later
// Antialiased resizes, crops, and tensors whose pad is 0.
#include <algorithm>
#include <cmath>

#include "backends.h"
#include "kernels/filterplan.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

const std::vector<Color> kFilterColors = {Color::rgb, Color::bgr, Color::gray};
const std::vector<ResizeMode> kFilterModes = {ResizeMode::stretch, ResizeMode::ultralytics,
                                              ResizeMode::top_left, ResizeMode::torchvision,
                                              ResizeMode::transformers};

class FilterTest : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const NormalizeCase &p, Content content) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture other(random, p.source.image), in(random, p.source.image, content);
    OutputTensor out(random, p.out);
    oracle::normalize(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return normalize_picture(machine, p); }, other, in,
               out);
  }
  void expect_as_the_oracle(Random &random, const LetterboxParams &p, Content content) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture other(random, p.source.image), in(random, p.source.image, content);
    OutputPicture out(random, p.out);
    oracle::letterbox(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return machine->letterbox(p); }, other, in, out);
  }

  /// The same on one random machine only.
  void expect_one_as_the_oracle(Random &random, const NormalizeCase &p) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputTensor out(random, p.out);
    oracle::normalize(p, in.view(), out.expected());
    const Machine &machine = any(random);
    expect_one(machine, *normalize_picture(machine, p), in, out);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(FilterTest);

/// Returns a size that is mostly smaller than the picture.
Size reduced(Random &random, Size in) {
  if (random.chance(30)) return random_size(random);
  const auto length = [&](int from) { return random.chance(10) ? from : random.integer(1, from); };
  const int width = length(in.width), height = length(in.height);
  return {width, height};
}

/// Returns a size that is longer than a group of columns, and than the words that a group reads.
Size large_size(Random &random) {
  if (random.chance(60)) return random_size(random);
  const int width = random.integer(1, 600), height = random.integer(1, 60);
  return random.chance(70) ? Size{width, height} : Size{height, width};
}

void randomize_pad(Random &random, NormalizeCase &p) {
  p.pad_normalized =
      is_float(p.out.dtype) && p.resize.mode != ResizeMode::affine && random.chance(50);
}

NormalizeCase random_case(Random &random, PixelFormat from, Color color, Size in, Size out) {
  NormalizeCase p = random_normalize(random, from, color, in, out);
  p.resize = random_filter(random);
  if (random.chance(20)) make_crop(random, p.resize, in, out);
  randomize_pad(random, p);
  return p;
}

/// Returns a part of an axis, on whole pixels or between them.
Extent random_part(Random &random, int length, double beyond) {
  const auto place = [&](double low, double high) {
    const double value = random.real(low, high);
    return random.chance(40) ? std::floor(value) : value;
  };
  const double begin = place(-beyond, length - 0.1 + beyond);
  return {begin, std::max(0.02, place(0.02, length + beyond - begin))};
}

Region random_region(Random &random, const ImageDesc &image, bool beyond) {
  for (;;) {
    const Extent x = random_part(random, image.width, beyond ? 6.0 : 0.0);
    const Extent y = random_part(random, image.height, beyond ? 6.0 : 0.0);
    const Region region = {x.begin, y.begin, x.length, y.length};
    if (beyond) return region;
    if (const auto clipped = clip(region, image.width, image.height)) return *clipped;
  }
}

TEST_P(FilterTest, RandomCases) {
  for_cases(1200, [&](Random &random) {
    const Size in = large_size(random), out = reduced(random, in);
    const NormalizeCase p =
        random_case(random, random.pick(kSourceFormats), random.pick(kFilterColors), in, out);
    expect_as_the_oracle(random, p, random.pick(kAllContents));
  });
}

TEST_P(FilterTest, RandomLetterboxes) {
  for_cases(600, [&](Random &random) {
    const Size in = large_size(random), out = reduced(random, in);
    LetterboxParams p = {random_source(random, random.pick(kSourceFormats), in),
                         {random.pick(kLetterboxFormats), out.width, out.height},
                         random_filter(random)};
    if (random.chance(20)) make_crop(random, p.resize, in, out);
    expect_as_the_oracle(random, p, random.pick(kAllContents));
  });
}

TEST_P(FilterTest, RandomRegions) {
  for_cases(2000, [&](Random &random) {
    const Size in = large_size(random), out = reduced(random, in);
    NormalizeCase p =
        random_case(random, random.pick(kSourceFormats), random.pick(kFilterColors), in, out);
    if (is_crop(p.resize.mode)) p.resize.mode = ResizeMode::stretch;
    p.pad_outside = random.chance(60);
    p.region = random_region(random, p.source.image, p.pad_outside);
    expect_as_the_oracle(random, p, random.pick(kAllContents));
  });
}

/// Tests crops with and without a filter.
TEST_P(FilterTest, RandomCrops) {
  for_cases(1500, [&](Random &random) {
    const Size in = random_size(random), out = random_size(random);
    const Color color = random.pick(kColors);
    NormalizeCase p = random_normalize(
        random, random.pick(color == Color::yuv ? kYuvFormats : kSourceFormats), color, in, out);
    if (color != Color::yuv && random.chance(50)) p.resize = random_filter(random);
    make_crop(random, p.resize, in, out);
    randomize_pad(random, p);
    expect_as_the_oracle(random, p, random.pick(kAllContents));
  });
}

/// Tests padding of zeros without a filter.
TEST_P(FilterTest, RandomPadOfZeros) {
  for_cases(500, [&](Random &random) {
    const Size in = random_size(random), out = random_size(random);
    NormalizeCase p =
        random_normalize(random, random.pick(kSourceFormats), random.pick(kFilterColors), in, out);
    p.out.dtype = random.pick<DType>({DType::float32, DType::float16, DType::bfloat16});
    p.resize.mode = random.pick<ResizeMode>(
        {ResizeMode::stretch, ResizeMode::ultralytics, ResizeMode::top_left});
    p.pad_normalized = true;
    p.pad_outside = random.chance(50);
    if (random.chance(50)) p.region = random_region(random, p.source.image, p.pad_outside);
    expect_as_the_oracle(random, p, random.pick(kAllContents));
  });
}

TEST_P(FilterTest, EveryFormatInEveryWay) {
  uint64_t number = 0;
  for (const PixelFormat from : kSourceFormats)
    for (const Color color : kFilterColors)
      for (const ResizeMode mode : kFilterModes)
        for (const Method method : kFilters) {
          Random random(number++);
          if (random.is_left_out()) continue;
          SCOPED_TRACE(random.name());
          const Size in = {random.integer(1, 70), random.integer(1, 30)};
          const Size out = {random.integer(1, 20), random.integer(1, 12)};
          NormalizeCase p = random_case(random, from, color, in, out);
          p.resize.shortest_edge = 0;
          if (is_crop(mode)) make_crop(random, p.resize, in, out);
          p.resize.mode = mode;
          p.resize.method = method;
          expect_one_as_the_oracle(random, p);
          if (HasFailure()) return;
        }
}

TEST_P(FilterTest, EveryColorimetryAndSiting) {
  uint64_t number = 0;
  for (const PixelFormat from : kYuvFormats)
    for (const ColorMatrix matrix : kMatrices)
      for (const ColorRange range : kRanges)
        for (int siting = 0; siting < 4; ++siting)
          for (const Size in : {Size{71, 13}, Size{150, 8}, Size{2, 3}, Size{1, 1}}) {
            Random random(number++);
            if (random.is_left_out()) continue;
            SCOPED_TRACE(random.name());
            NormalizeCase p = random_case(random, from, Color::rgb, in, {9, 5});
            p.source.colorimetry = {matrix, range};
            p.source.cosited_x = siting % 2 != 0;
            p.source.cosited_y = siting / 2 != 0;
            if (random.chance(50)) p.region = random_region(random, p.source.image, false);
            if (p.region) p.resize.mode = ResizeMode::stretch;
            expect_one_as_the_oracle(random, p);
            if (HasFailure()) return;
          }
}

/// Resizes from and to one pixel, thousands of pixels to one, and more rows than are kept between
/// the passes.
TEST_P(FilterTest, EveryExtremeRatio) {
  const std::pair<Size, Size> sizes[] = {
      {{1, 1}, {1, 1}},        {{1, 1}, {300, 200}},   {{2, 1}, {1, 500}},
      {{4000, 30}, {1, 1}},    {{30, 4000}, {1, 1}},   {{4000, 3}, {7, 3}},
      {{3, 4000}, {3, 7}},     {{32767, 2}, {3, 2}},   {{2, 32767}, {2, 3}},
      {{5, 3}, {32767, 2}},    {{3, 5}, {2, 32767}},   {{640, 700}, {640, 690}},
      {{20, 3000}, {6000, 1}}, {{700, 500}, {28, 28}}, {{1000, 10}, {33, 9}}};
  uint64_t number = 0;
  for (const auto &[in, out] : sizes) {
    Random random(number++);
    SCOPED_TRACE(random.name());
    const auto from = random.pick<PixelFormat>({PixelFormat::RGB, PixelFormat::GRAY8});
    NormalizeCase p = random_case(random, from, random.pick(kFilterColors), in, out);
    p.resize.mode = ResizeMode::stretch;
    expect_as_the_oracle(random, p, Content::random);
    if (HasFailure()) return;
  }
}

TEST_P(FilterTest, VideoFrames) {
  Random random(0);
  for (const PixelFormat from : {PixelFormat::NV12, PixelFormat::RGB, PixelFormat::P010_10LE}) {
    NormalizeCase p = random_case(random, from, Color::rgb, {640, 360}, {224, 224});
    p.resize = {ResizeMode::torchvision, Method::bicubic, 114, true, true, 256};
    expect_as_the_oracle(random, p, Content::random);
  }
}

// ------------------------------------------------------------------------------- known results

/// The expected values are Pillow 11.3's for 12 gray pixels.
TEST_P(FilterTest, EqualsPillow) {
  const std::vector<uint8_t> pixels = {0, 255, 3, 77, 200, 201, 9, 90, 180, 255, 0, 128};
  const std::pair<Method, std::vector<uint8_t>> known[] = {
      {Method::box, {128, 93, 105, 175, 64}},
      {Method::box, {0, 255, 255, 3, 77, 77, 200, 201, 9, 9, 90, 180, 180, 255, 0, 0, 128}},
      {Method::bilinear, {109, 112, 118, 150, 103}},
      {Method::bilinear,
       {0, 143, 188, 10, 53, 124, 200, 201, 105, 26, 83, 146, 204, 247, 68, 56, 128}},
      {Method::bicubic, {104, 115, 116, 154, 104}},
      {Method::bicubic,
       {0, 155, 216, 6, 38, 126, 205, 215, 100, 8, 82, 146, 217, 252, 49, 42, 136}},
      {Method::lanczos, {95, 125, 115, 147, 112}},
      {Method::lanczos,
       {0, 161, 228, 9, 19, 134, 209, 227, 95, 1, 78, 142, 231, 250, 46, 33, 145}}};
  for (const auto &[method, expected] : known) {
    NormalizeCase p = {};
    p.source.image = {PixelFormat::GRAY8, 12, 1};
    p.color = Color::gray;
    p.out = {DType::uint8, Layout::nchw, 1, 1, 1, static_cast<int64_t>(expected.size())};
    p.resize.method = method;
    p.resize.antialias = true;
    Random random(0);
    InputPicture in(random, p.source.image);
    in.assign({p.source.image, {{pixels.data(), 12}}});
    OutputTensor out(random, p.out);
    machine().run(*normalize_picture(machine(), p), in, out);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(oracle::element(constant(out.view()), static_cast<int64_t>(i)), expected[i])
          << static_cast<int>(method) << " " << i;
  }
}

TEST_P(FilterTest, CopiesWhatItDoesNotResize) {
  Random random(0);
  for (const Method method : kFilters) {
    LetterboxParams p = {random_source(random, PixelFormat::BGRx, {50, 20}),
                         {PixelFormat::BGRx, 50, 20},
                         random_filter(random)};
    p.source.direction = Direction::identity;
    p.resize.method = method;
    const InputPicture in(random, p.source.image);
    OutputPicture out(random, p.out);
    machine().run(*machine()->letterbox(p), in, out);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 50; ++x)
        for (const char letter : {'R', 'G', 'B'})
          ASSERT_EQ(*oracle::address(out.view(), letter, x, y),
                    oracle::sample(in.view(), letter, x, y));
  }
}

// ------------------------------------------------------------------------------------ refusals

class FilterRefusalTest : public FilterTest {
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
    p.out = {DType::float32, Layout::nchw, 1, 3, 20, 20};
    p.resize.antialias = true;
    return p;
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(FilterRefusalTest);

TEST_P(FilterRefusalTest, SettingsThatExcludeEachOther) {
  accepted([](auto &) {});
  refused("method", [](auto &p) { p.resize.method = Method::nearest; });
  refused("affine", [](auto &p) { p.resize.mode = ResizeMode::affine; });
  refused("yuv", [](auto &p) { p.color = Color::yuv; });
  for (const Method method : {Method::box, Method::bicubic, Method::lanczos}) {
    accepted([&](auto &p) { p.resize.method = method; });
    refused("antialias", [&](auto &p) {
      p.resize.method = method;
      p.resize.antialias = false;
    });
  }
}

TEST_P(FilterRefusalTest, PadOfZeros) {
  accepted([](auto &p) { p.pad_normalized = true; });
  for (const DType type : {DType::uint8, DType::int8})
    refused("pad-normalized", [&](auto &p) {
      p.pad_normalized = true;
      p.out.dtype = type;
    });
  refused("pad-normalized", [](auto &p) {
    p.pad_normalized = true;
    p.resize = {ResizeMode::affine, Method::bilinear};
  });
}

TEST_P(FilterRefusalTest, Crops) {
  for (const ResizeMode mode : kCrops)
    for (const bool antialias : kBools) {
      const auto crop = [&](auto &p, int edge) {
        p.resize.mode = mode;
        p.resize.antialias = antialias;
        p.resize.shortest_edge = edge;
      };
      accepted([&](auto &p) { crop(p, 0); });
      accepted([&](auto &p) { crop(p, 20); });
      refused("shortest-edge", [&](auto &p) { crop(p, 19); });
      refused("shortest-edge", [&](auto &p) { crop(p, -1); });
      refused("shortest-edge", [&](auto &p) { crop(p, 32768); });
      // The resized picture may be longer than a picture may be, because only its crop is computed.
      accepted([&](auto &p) { crop(p, 32767); });
      accepted([&](auto &p) { crop(p, 32767), p.region = Region{0, 5, 64, 0.01}; });
      refused("longer than", [&](auto &p) { crop(p, 32767), p.region = Region{0, 5, 64, 1e-5}; });
      // The other edge is long enough, or too short.
      accepted([&](auto &p) { crop(p, 20), p.out.w = 26; });
      refused("shortest-edge", [&](auto &p) { crop(p, 20), p.out.w = 27; });
    }
}

TEST_P(FilterRefusalTest, RegionsAndSizes) {
  refused("leaves", [](auto &p) { p.region = Region{0, 0, 65, 48}; });
  accepted([](auto &p) {
    p.region = Region{-5, 0, 90, 48};
    p.pad_outside = true;
  });
  refused("0x20", [](auto &p) { p.out.w = 0; });
  refused("64x32768", [](auto &p) { p.source.image.height = 32768; });
  refused("pad-value", [](auto &p) { p.resize.pad_value = 256; });
}

}  // namespace
}  // namespace cudatensor
