// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA reads and writes whole words of aligned pictures, and bytes of others. The results must be
// equal.
#include <algorithm>

#include "cudatest.h"
#include "params.h"

namespace cudatensor {
namespace {

class CudaAlignmentTest : public CudaAndCpuTest {
 protected:
  /// Half of the pictures are aligned to words.
  static Lays any_lays(Random &random) { return random.chance(50) ? Lays{} : random_lays(random); }

  void expect_normalized(Random &random, const NormalizeCase &p, const Lays &lays) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, lays, random.pick(kAllContents));
    OutputTensor out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return normalize_picture(m, p); }, in, out);
  }
  void expect_boxed(Random &random, const LetterboxParams &p, const Lays &in_lays,
                    const Lays &out_lays) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, in_lays, random.pick(kAllContents));
    OutputPicture out(random, p.out, out_lays);
    expect_same(
        random, [&](const Machine &m) { return m->letterbox(p); }, in, out);
  }
  void expect_resized(Random &random, const Yuv444Params &p, const Lays &in_lays,
                      const Lays &out_lays) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.in, in_lays, random.pick(kAllContents));
    OutputPicture out(random, p.out, out_lays);
    expect_same(
        random, [&](const Machine &m) { return m->yuv444(p); }, in, out);
  }
  void expect_counted(Random &random, const HistogramParams &p, const Lays &lays) const {
    const InputPicture in(random, p.in, lays, random.pick(kAllContents));
    const Machine &machine = any_cuda(random);
    Bins bins = {}, expected = {};
    cpu().count(*cpu()->histogram(p), in, expected);
    machine.count(*machine->histogram(p), in, bins);
    EXPECT_EQ(bins, expected) << text_of(p) << ", " << machine.name();
  }
};

/// Returns a size of several blocks of threads along both axes.
Size large_size(Random &random) {
  const int width = random.integer(1, 400), height = random.integer(1, 150);
  return {random.chance(40) ? (width + 15) / 16 * 16 : width, height};
}

TEST_F(CudaAlignmentTest, Normalize) {
  for_cases(1000, [&](Random &random) {
    const PixelFormat from = random.pick(kSourceFormats);
    const Color color = random.pick(kColors);
    const Size in = large_size(random), out = large_size(random);
    expect_normalized(
        random,
        random_normalize(random, from, is_possible(from, color) ? color : Color::bgr, in, out),
        any_lays(random));
  });
}

TEST_F(CudaAlignmentTest, Letterbox) {
  for_cases(1000, [&](Random &random) {
    const Size in = large_size(random), out = large_size(random);
    const LetterboxParams p = {random_source(random, random.pick(kSourceFormats), in),
                               {random.pick(kLetterboxFormats), out.width, out.height},
                               random_resize(random)};
    const Lays in_lays = any_lays(random), out_lays = any_lays(random);
    expect_boxed(random, p, in_lays, out_lays);
  });
}

TEST_F(CudaAlignmentTest, Yuv444) {
  for_cases(1000, [&](Random &random) {
    const Size in = large_size(random), resized = random.chance(50) ? in : large_size(random);
    Rect crop = random_rect(random, resized.width, resized.height);
    if (random.chance(50)) crop.x &= ~3, crop.width = std::max(1, crop.width & ~3);
    const Yuv444Params p = {{random.pick(kYuvFormats), in.width, in.height},
                            {PixelFormat::Y444, crop.width, crop.height},
                            resized.width,
                            resized.height,
                            crop.x,
                            crop.y};
    const Lays in_lays = any_lays(random), out_lays = any_lays(random);
    expect_resized(random, p, in_lays, out_lays);
  });
}

TEST_F(CudaAlignmentTest, Histogram) {
  for_cases(1000, [&](Random &random) {
    const Size size = large_size(random);
    const HistogramParams p = {{random.pick(kAllFormats), size.width, size.height},
                               random_rect(random, size.width, size.height)};
    expect_counted(random, p, any_lays(random));
  });
}

/// Rows of enlarged tensors share their inputs. Tests tensors and pictures with more than one block
/// of threads.
TEST_F(CudaAlignmentTest, Enlarged) {
  for_cases(600, [&](Random &random) {
    const Size seed = random.chance(50) ? random.pick(kSeeds) : random_size(random);
    const double ratio = random.pick(kRatios);
    const auto length = [&](int from) {
      return std::clamp(static_cast<int>(from * ratio) + random.integer(-2, 9), 1, 500);
    };
    const int width = length(seed.width), height = length(seed.height);
    const PixelFormat from = random.pick(kSourceFormats);
    const Color color = random.pick(kColors);
    NormalizeCase p = random_normalize(random, from, is_possible(from, color) ? color : Color::rgb,
                                       seed, {width, height});
    p.resize.scale_up = true;
    expect_normalized(random, p, any_lays(random));
    const LetterboxParams box = {
        p.source, {random.pick(kLetterboxFormats), width, height}, p.resize};
    expect_boxed(random, box, any_lays(random), any_lays(random));
  });
}

/// Returns sizes in whole ratios, where a plane blends along both axes, along one, or not at all.
NormalizeCase random_whole_ratios(Random &random, Size out) {
  const std::vector<int> ratios = {1, 2, 3, 4, 6};
  const PixelFormat from = random.pick(kSourceFormats);
  const Color color = random.pick(kColors);
  NormalizeCase p =
      random_normalize(random, from, is_possible(from, color) ? color : Color::bgr,
                       {out.width * random.pick(ratios), out.height * random.pick(ratios)}, out);
  p.resize.mode = ResizeMode::stretch;
  if (random.chance(75)) p.resize.method = Method::bilinear;
  return p;
}

TEST_F(CudaAlignmentTest, WholeRatios) {
  for_cases(600, [&](Random &random) {
    const Size out = {random.integer(1, 150), random.integer(2, 40)};
    const NormalizeCase p = random_whole_ratios(random, out);
    expect_normalized(random, p, any_lays(random));
    const LetterboxParams box = {
        p.source, {random.pick(kLetterboxFormats), out.width, out.height}, p.resize};
    expect_boxed(random, box, any_lays(random), any_lays(random));
  });
}

/// Returns parameters that put 4:2:0 unscaled into a picture, with or without padding, aligned to
/// quads or not.
LetterboxParams random_unscaled(Random &random, PixelFormat from, Size quads) {
  const auto about = [&](int length) {
    return std::max(1, 4 * length + (random.chance(25) ? random.integer(-3, 3) : 0));
  };
  const Size in = {about(quads.width), about(quads.height)};
  const auto padded = [&](int length) {
    if (random.chance(50)) return length;
    return length + (random.chance(75) ? 8 * random.integer(0, 3) : random.integer(0, 9));
  };
  LetterboxParams p = {random_source(random, from, in),
                       {random.pick(kLetterboxFormats), padded(in.width), padded(in.height)},
                       random_resize(random)};
  p.resize.scale_up = false;
  if (random.chance(75)) p.resize.method = Method::bilinear;
  return p;
}

const std::vector<PixelFormat> kSubsampledFormats = {PixelFormat::NV12, PixelFormat::NV21,
                                                     PixelFormat::I420, PixelFormat::YV12,
                                                     PixelFormat::NV16, PixelFormat::Y42B};

TEST_F(CudaAlignmentTest, Unscaled) {
  for_cases(1000, [&](Random &random) {
    const Size quads = {random.integer(1, 100), random.integer(1, 20)};
    const LetterboxParams p = random_unscaled(random, random.pick(kSubsampledFormats), quads);
    const Lays in_lays = any_lays(random), out_lays = any_lays(random);
    expect_boxed(random, p, in_lays, out_lays);
  });
}

// --------------------------------------------------------------------------- for the sanitizers

/// Few cases of each kernel. Memory ends with the last sample, and words must not extend beyond it.
class CudaEdgesAlignmentTest : public CudaAlignmentTest {
 protected:
  /// Returns planes that are aligned to words, or not because of their address or stride.
  static std::vector<Lays> some_lays() {
    const Lay words, address = {1, 64, 0}, stride = {0, 64, 1}, dense = {0, 1, 0};
    return {{words, words, words},
            {dense, dense, dense},
            {words, address, address},
            {address, words, words},
            {stride, stride, stride}};
  }
};

TEST_F(CudaEdgesAlignmentTest, Pictures) {
  uint64_t number = 0;
  for (const PixelFormat from :
       {PixelFormat::NV12, PixelFormat::NV21, PixelFormat::YV12, PixelFormat::BGR,
        PixelFormat::RGBx, PixelFormat::ARGB, PixelFormat::YVYU, PixelFormat::NV16,
        PixelFormat::P010_10LE, PixelFormat::I420_10LE})
    for (const PixelFormat to :
         {PixelFormat::BGR, PixelFormat::RGBA, PixelFormat::RGBP, PixelFormat::GRAY8})
      for (const Lays &lays : some_lays()) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const Size in = {random.integer(1, 19), random.integer(1, 9)};
        const LetterboxParams p = {random_source(random, from, in),
                                   {to, random.integer(1, 40), random.integer(1, 9)},
                                   random_resize(random)};
        expect_boxed(random, p, lays, random.chance(50) ? lays : Lays{});
      }
}

TEST_F(CudaEdgesAlignmentTest, Tensors) {
  uint64_t number = 0;
  for (const PixelFormat from :
       {PixelFormat::NV12, PixelFormat::NV21, PixelFormat::I420, PixelFormat::Y444,
        PixelFormat::xBGR, PixelFormat::GRAY8, PixelFormat::YUY2, PixelFormat::UYVY,
        PixelFormat::Y42B, PixelFormat::P016_LE, PixelFormat::I420_10LE})
    for (const Color color : kColors)
      for (const Lays &lays : some_lays()) {
        if (!is_possible(from, color)) continue;
        Random random(number++);
        SCOPED_TRACE(random.name());
        NormalizeCase p =
            random_normalize(random, from, color, {random.integer(1, 19), random.integer(1, 9)},
                             {random.integer(1, 40), random.integer(1, 9)});
        if (random.chance(50)) p.resize = {};
        expect_normalized(random, p, lays);
      }
}

TEST_F(CudaEdgesAlignmentTest, Enlarged) {
  uint64_t number = 0;
  for (const PixelFormat from : {PixelFormat::NV12, PixelFormat::RGBx, PixelFormat::I420,
                                 PixelFormat::UYVY, PixelFormat::P010_10LE})
    for (const Size seed : {Size{1, 1}, {2, 2}, {1, 5}, {5, 1}, {4, 3}})
      for (const ResizeMode mode : kModes) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        NormalizeCase p = random_normalize(random, from, Color::rgb, seed,
                                           {7 * seed.width + 3, 5 * seed.height + 2});
        p.resize.mode = mode;
        p.resize.scale_up = true;
        expect_normalized(random, p, {});
      }
}

TEST_F(CudaEdgesAlignmentTest, WholeRatios) {
  uint64_t number = 0;
  for (const Lays &lays : some_lays())
    for (int i = 0; i < 30; ++i) {
      Random random(number++);
      SCOPED_TRACE(random.name());
      const Size out = {random.integer(1, 9), random.integer(1, 6)};
      const NormalizeCase p = random_whole_ratios(random, out);
      expect_normalized(random, p, lays);
      expect_boxed(random, {p.source, {PixelFormat::RGB, out.width, out.height}, p.resize}, lays,
                   {});
    }
}

TEST_F(CudaEdgesAlignmentTest, Unscaled) {
  uint64_t number = 0;
  for (const PixelFormat from : kSubsampledFormats)
    for (const Lays &lays : some_lays())
      for (const Size quads : {Size{1, 1}, {1, 2}, {2, 1}, {33, 3}}) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const LetterboxParams p = random_unscaled(random, from, quads);
        expect_boxed(random, p, lays, random.chance(50) ? lays : Lays{});
      }
}

TEST_F(CudaEdgesAlignmentTest, Yuv444WithoutAResize) {
  uint64_t number = 0;
  for (const PixelFormat format : kYuvFormats)
    for (const Lays &lays : some_lays())
      for (const int x : {0, 4, 5})
        for (const int width : {3, 4, 8, 132}) {
          Random random(number++);
          SCOPED_TRACE(random.name());
          const int height = random.integer(1, 7), y = random.integer(0, 2);
          // Resizes up to the last column and row.
          expect_resized(random,
                         {{format, x + width, y + height},
                          {PixelFormat::Y444, width, height},
                          x + width,
                          y + height,
                          x,
                          y},
                         lays, random.chance(50) ? lays : Lays{});
        }
}

TEST_F(CudaEdgesAlignmentTest, Histogram) {
  uint64_t number = 0;
  for (const PixelFormat format : kAllFormats)
    for (const Lays &lays : some_lays())
      for (const int width : {5, 32, 70}) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const int height = random.integer(1, 5);
        expect_counted(random, {{format, width, height}, {0, 0, width, height}}, lays);
      }
}

TEST_F(CudaEdgesAlignmentTest, SumsOfHistograms) {
  for_cases(20, [&](Random &random) {
    const HistogramParams p = {{random.pick(kAllFormats), 37, 5}, {1, 1, 35, 4}};
    SCOPED_TRACE(text_of(p));
    const Machine &machine = any_cuda(random);
    const auto on_gpu = machine->histogram(p), on_cpu = cpu()->histogram(p);
    for (int i = 0; i < 6; ++i) {
      const InputPicture in(random, p.in);
      Bins bins = {}, expected = {};
      const int step = random.integer(0, 2);
      if (step == 0) {
        machine.add(*on_gpu, in);
        cpu().add(*on_cpu, in);
      } else if (step == 1) {
        machine.count(*on_gpu, in, bins);
        cpu().count(*on_cpu, in, expected);
      } else {
        machine.take(*on_gpu, bins);
        cpu().take(*on_cpu, expected);
      }
      EXPECT_EQ(bins, expected) << machine.name();
    }
  });
}

// ------------------------------------------------------------------------- the longest pictures

constexpr int kLongestSide = 32767;

/// Sizes before and after, each the longest in one dimension.
const std::vector<std::pair<Size, Size>> kLongestPairs = {
    {{kLongestSide, 5}, {kLongestSide, 3}}, {{5, kLongestSide}, {3, kLongestSide}},
    {{61, 47}, {kLongestSide, 3}},          {{61, 47}, {3, kLongestSide}},
    {{kLongestSide, 5}, {333, 47}},         {{5, kLongestSide}, {333, 47}},
    {{kLongestSide, 1}, {1, kLongestSide}}, {{1, kLongestSide}, {kLongestSide, 1}}};

class CudaLongestTest : public CudaAlignmentTest {};

TEST_F(CudaLongestTest, Normalize) {
  uint64_t number = 0;
  for (const auto &[from, to] : kLongestPairs)
    for (const PixelFormat format : {PixelFormat::NV21, PixelFormat::I420, PixelFormat::RGBA,
                                     PixelFormat::YUY2, PixelFormat::P016_LE})
      for (const Color color : {Color::bgr, Color::gray, Color::yuv})
        for (const ResizeMode mode : {ResizeMode::stretch, ResizeMode::affine}) {
          if (!is_possible(format, color)) continue;
          Random random(number++);
          SCOPED_TRACE(random.name());
          NormalizeCase p = random_normalize(random, format, color, from, to);
          p.resize.mode = mode;
          expect_normalized(random, p, any_lays(random));
        }
}

TEST_F(CudaLongestTest, Letterbox) {
  uint64_t number = 0;
  for (const auto &[from, to] : kLongestPairs)
    for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::BGR})
      for (const PixelFormat into : {PixelFormat::RGB, PixelFormat::BGRx, PixelFormat::GRAY8}) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        expect_boxed(random,
                     {random_source(random, format, from),
                      {into, to.width, to.height},
                      random_resize(random)},
                     any_lays(random), any_lays(random));
      }
}

TEST_F(CudaLongestTest, Yuv444) {
  uint64_t number = 0;
  for (const auto &[from, to] : kLongestPairs)
    for (const PixelFormat format : kYuvFormats) {
      Random random(number++);
      SCOPED_TRACE(random.name());
      const ImageDesc in = {format, from.width, from.height};
      const auto output = [](Size size) {
        return ImageDesc{PixelFormat::Y444, size.width, size.height};
      };
      expect_resized(random, {in, output(to), to.width, to.height, 0, 0}, any_lays(random),
                     any_lays(random));
      // The last columns, a whole number of words.
      const Size whole = {from.width < 4 ? from.width : from.width & ~3, from.height};
      const int left = from.width < 8 ? 0 : 4;
      const int width = from.width < 8 ? whole.width : whole.width - 4;
      expect_resized(random, {in, output({width, whole.height}), from.width, from.height, left, 0},
                     {}, {});
    }
}

TEST_F(CudaLongestTest, Histogram) {
  uint64_t number = 0;
  for (const Size size : {Size{kLongestSide, 3}, {3, kLongestSide}})
    for (const PixelFormat format : kAllFormats) {
      Random random(number++);
      SCOPED_TRACE(random.name());
      expect_counted(random, {{format, size.width, size.height}, {0, 0, size.width, size.height}},
                     any_lays(random));
      expect_counted(random,
                     {{format, size.width, size.height}, {1, 1, size.width - 1, size.height - 1}},
                     any_lays(random));
    }
}

}  // namespace
}  // namespace cudatensor
