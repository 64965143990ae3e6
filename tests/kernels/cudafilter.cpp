// SPDX-License-Identifier: LGPL-2.1-or-later
// Antialiased resizes, crops and padding of zeros: the CUDA backend equals the CPU backend byte for
// byte.
#include "cudatest.h"
#include "params.h"

namespace cudatensor {
namespace {

class CudaFilterTest : public CudaAndCpuTest {
 protected:
  /// Returns a size from a few pixels to several blocks of threads.
  static Size any_size(Random &random) {
    if (random.chance(40)) return random_size(random);
    const int width = random.integer(1, 900), height = random.integer(1, 400);
    return {width, height};
  }

  void expect_normalized(Random &random, NormalizeCase p) const {
    p.pad_normalized =
        is_float(p.out.dtype) && p.resize.mode != ResizeMode::affine && random.chance(50);
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputTensor out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return normalize_picture(m, p); }, in, out);
  }

  static Color filter_color(Random &random) {
    return random.pick<Color>({Color::rgb, Color::bgr, Color::gray});
  }
};

TEST_F(CudaFilterTest, Normalize) {
  for_cases(2000, [&](Random &random) {
    const Size in = any_size(random), out = any_size(random);
    NormalizeCase p =
        random_normalize(random, random.pick(kSourceFormats), filter_color(random), in, out);
    p.resize = random_filter(random);
    if (random.chance(20)) make_crop(random, p.resize, in, out);
    expect_normalized(random, p);
  });
}

TEST_F(CudaFilterTest, Regions) {
  for_cases(1000, [&](Random &random) {
    const Size in = any_size(random), out = any_size(random);
    NormalizeCase p =
        random_normalize(random, random.pick(kSourceFormats), filter_color(random), in, out);
    p.resize = random_filter(random);
    p.pad_outside = true;
    const auto begin = [&](int length) { return random.real(-9.0, length + 5.0); };
    const double x = begin(in.width), y = begin(in.height);
    p.region =
        Region{x, y, random.real(0.1, in.width + 9.0 - x), random.real(0.1, in.height + 9.0 - y)};
    expect_normalized(random, p);
  });
}

/// There are so many blocks that tiles have their largest height. Some are only padding.
TEST_F(CudaFilterTest, Batches) {
  for_cases(100, [&](Random &random) {
    const Size size = {random.integer(8, 400), random.integer(8, 300)};
    const Size out_size = {random.integer(20, 110), random.integer(40, 170)};
    NormalizeCase p =
        random_normalize(random, random.pick(kSourceFormats), filter_color(random), size, out_size);
    p.resize = random_filter(random);
    p.pad_outside = true;
    p.out.n = random.integer(50, 130);
    SCOPED_TRACE(text_of(p));
    const auto begin = [&](int length) { return random.real(-9.0, length - 1.0); };
    std::vector<Region> regions;
    for (int64_t i = random.chance(50) ? 0 : random.integer(0, 9); i < p.out.n; ++i) {
      const double x = begin(size.width), y = begin(size.height);
      regions.push_back(
          {x, y, random.real(1.0, size.width - x), random.real(1.0, size.height - y)});
    }
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputTensor out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return normalize_regions(m, p); },
        PictureRegions{&in, regions}, out);
  });
}

TEST_F(CudaFilterTest, UnfilteredCrops) {
  for_cases(1000, [&](Random &random) {
    const Size in = any_size(random), out = any_size(random);
    NormalizeCase p =
        random_normalize(random, random.pick(kSourceFormats), filter_color(random), in, out);
    make_crop(random, p.resize, in, out);
    expect_normalized(random, p);
  });
}

TEST_F(CudaFilterTest, Letterbox) {
  for_cases(1000, [&](Random &random) {
    const Size in_size = any_size(random), size = any_size(random);
    LetterboxParams p = {random_source(random, random.pick(kSourceFormats), in_size),
                         {random.pick(kLetterboxFormats), size.width, size.height},
                         random_filter(random)};
    if (random.chance(20)) make_crop(random, p.resize, in_size, size);
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputPicture out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return m->letterbox(p); }, in, out);
  });
}

TEST_F(CudaFilterTest, ExtremeRatios) {
  const std::pair<Size, Size> sizes[] = {{{1, 1}, {300, 200}},       {{3840, 2160}, {1, 1}},
                                         {{3840, 2160}, {224, 224}}, {{32767, 2}, {3, 2}},
                                         {{2, 32767}, {2, 3}},       {{5, 3}, {32767, 2}},
                                         {{3, 5}, {2, 32767}},       {{20, 3000}, {6000, 1}},
                                         {{4000, 30}, {1, 30}},      {{640, 700}, {640, 690}}};
  uint64_t number = 0;
  for (const auto &[in, out] : sizes)
    for (const PixelFormat from : {PixelFormat::NV12, PixelFormat::RGB, PixelFormat::GRAY8}) {
      Random random(number++);
      NormalizeCase p = random_normalize(random, from, filter_color(random), in, out);
      p.resize = random_filter(random);
      p.resize.mode = ResizeMode::stretch;
      expect_normalized(random, p);
    }
}

}  // namespace
}  // namespace cudatensor
