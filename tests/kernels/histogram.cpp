// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/histogram.h"

#include <cmath>
#include <numeric>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

bool is_planar_rgb(PixelFormat format) {
  return format == PixelFormat::RGBP || format == PixelFormat::BGRP;
}

/// Returns content of the bins that must be overwritten.
Bins random_bins(Random &random) {
  Bins bins = {};
  for (uint64_t &bin : bins) bin = random.bits();
  return bins;
}

class HistogramTest : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const HistogramParams &p, Content content) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture other(random, p.in), in(random, p.in, content);
    const Bins before = random_bins(random);
    Bins expected = {};
    oracle::histogram(p, in.view(), expected);
    for (const auto &machine : machines()) {
      SCOPED_TRACE(machine->name());
      const auto operation = (*machine)->histogram(p);
      Bins noise = before, bins = before;
      machine->count(*operation, other, noise);
      machine->count(*operation, in, bins);
      EXPECT_EQ(bins, expected);
      EXPECT_EQ(std::accumulate(noise.begin(), noise.end(), uint64_t{0}),
                static_cast<uint64_t>(p.roi.width) * static_cast<uint64_t>(p.roi.height));
    }
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(HistogramTest);

HistogramParams random_params(Random &random, PixelFormat format) {
  const Size size = random_size(random);
  return {{format, size.width, size.height}, random_rect(random, size.width, size.height)};
}

TEST_P(HistogramTest, EveryFormat) {
  for (const PixelFormat format : kAllFormats) {
    if (is_planar_rgb(format)) continue;
    for_cases(150, [&](Random &random) {
      expect_as_the_oracle(random, random_params(random, format), random.pick(kAllContents));
    });
  }
}

/// Planar RGB is either counted right or refused.
TEST_P(HistogramTest, PlanarRgb) {
  for (const PixelFormat format : {PixelFormat::RGBP, PixelFormat::BGRP})
    for_cases(50, [&](Random &random) {
      const HistogramParams p = random_params(random, format);
      try {
        machine()->histogram(p);
      } catch (const Error &error) {
        EXPECT_NE(std::string(error.what()).find(oracle::format_of(format).name), std::string::npos)
            << error.what();
        return;
      }
      expect_as_the_oracle(random, p, Content::random);
    });
}

TEST_P(HistogramTest, EveryFrameIsCountedAnew) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const HistogramParams p = {{PixelFormat::NV12, 33, 17}, {0, 0, 33, 17}};
  for (const auto &machine : machines()) {
    SCOPED_TRACE(machine->name());
    const auto operation = (*machine)->histogram(p);
    Bins bins = random_bins(random);
    for (int frame = 0; frame < 20; ++frame) {
      const InputPicture in(random, p.in);
      Bins expected = {};
      oracle::histogram(p, in.view(), expected);
      machine->count(*operation, in, bins);
      EXPECT_EQ(bins, expected) << "frame " << frame;
    }
  }
}

// ------------------------------------------------------------------------- sums over pictures

Bins operator+(const Bins &a, const Bins &b) {
  Bins sum = {};
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

Bins counted(const HistogramParams &p, const InputPicture &in) {
  Bins bins = {};
  oracle::histogram(p, in.view(), bins);
  return bins;
}

TEST_P(HistogramTest, NothingCountedIsZero) {
  Random random(0);
  for (const PixelFormat format : kAllFormats) {
    const HistogramParams p = {{format, 33, 17}, {1, 1, 31, 15}};
    for (const auto &machine : machines()) {
      const auto operation = (*machine)->histogram(p);
      for (int i = 0; i < 2; ++i) {
        Bins bins = random_bins(random);
        machine->take(*operation, bins);
        EXPECT_EQ(bins, Bins{}) << text_of(p) << ", " << machine->name();
      }
    }
  }
}

TEST_P(HistogramTest, ATakeBeginsAnew) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const HistogramParams p = {{PixelFormat::BGR, 33, 17}, {2, 1, 30, 15}};
  const InputPicture first(random, p.in), second(random, p.in), third(random, p.in);
  for (const auto &machine : machines()) {
    SCOPED_TRACE(machine->name());
    const auto operation = (*machine)->histogram(p);
    Bins bins = random_bins(random);
    machine->add(*operation, first);
    machine->add(*operation, second);
    machine->take(*operation, bins);
    EXPECT_EQ(bins, counted(p, first) + counted(p, second));
    machine->add(*operation, third);
    machine->take(*operation, bins);
    EXPECT_EQ(bins, counted(p, third));
    machine->take(*operation, bins);
    EXPECT_EQ(bins, Bins{});
  }
}

TEST_P(HistogramTest, ARunHandsOverWhatWasAddedToo) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const HistogramParams p = {{PixelFormat::NV12, 33, 17}, {0, 0, 33, 17}};
  const InputPicture first(random, p.in), second(random, p.in), third(random, p.in);
  for (const auto &machine : machines()) {
    SCOPED_TRACE(machine->name());
    const auto operation = (*machine)->histogram(p);
    Bins bins = random_bins(random);
    machine->add(*operation, first);
    machine->count(*operation, second, bins);
    EXPECT_EQ(bins, counted(p, first) + counted(p, second));
    machine->count(*operation, third, bins);
    EXPECT_EQ(bins, counted(p, third));
    machine->take(*operation, bins);
    EXPECT_EQ(bins, Bins{});
  }
}

TEST_P(HistogramTest, RandomCasesOfSums) {
  for_cases(200, [&](Random &random) {
    const HistogramParams p = random_params(random, random.pick(kAllFormats));
    SCOPED_TRACE(text_of(p));
    const Machine &machine = any(random);
    SCOPED_TRACE(machine.name());
    const auto operation = machine->histogram(p);
    Bins sum = {};
    std::string steps;
    for (int i = random.integer(1, 15); i > 0; --i) {
      const InputPicture in(random, p.in, random.pick(kAllContents));
      const int step = random.integer(0, 5);
      Bins bins = random_bins(random);
      steps += step < 3 ? " add" : step < 5 ? " run" : " take";
      if (step < 5) sum = sum + counted(p, in);
      if (step < 3) {
        machine.add(*operation, in);
        continue;
      }
      if (step < 5)
        machine.count(*operation, in, bins);
      else
        machine.take(*operation, bins);
      EXPECT_EQ(bins, sum) << "after" << steps;
      sum = {};
    }
  });
}

/// Two equal operations do not share their counts.
TEST_P(HistogramTest, EachOperationHasItsOwnSums) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const HistogramParams p = {{PixelFormat::GRAY8, 65, 9}, {0, 0, 65, 9}};
  const InputPicture first(random, p.in), second(random, p.in);
  for (const auto &machine : machines()) {
    SCOPED_TRACE(machine->name());
    const auto one = (*machine)->histogram(p), other = (*machine)->histogram(p);
    machine->add(*one, first);
    machine->add(*other, second);
    Bins bins = random_bins(random);
    machine->take(*one, bins);
    EXPECT_EQ(bins, counted(p, first));
    machine->take(*other, bins);
    EXPECT_EQ(bins, counted(p, second));
  }
}

/// A refused picture must not be counted.
TEST_P(HistogramTest, AddRefusesWhatItWasNotMadeFor) {
  Random random(0);
  const HistogramParams p = {{PixelFormat::BGR, 8, 8}, {0, 0, 8, 8}};
  const InputPicture wrong(random, {PixelFormat::BGR, 9, 8});
  const auto operation = machine()->histogram(p);
  expect_refusal(Error::Code::input, "BGR 9x8", [&] { operation->add(wrong.view()); });
  Bins bins = random_bins(random);
  machine().take(*operation, bins);
  EXPECT_EQ(bins, Bins{});
}

TEST_P(HistogramTest, SumsBeyond32Bits) {
  Random random(0);
  const HistogramParams p = {{PixelFormat::GRAY8, 8192, 8192}, {0, 0, 8192, 8192}};
  const InputPicture in(random, p.in, Content::maximum);
  const auto operation = machine()->histogram(p);
  constexpr int kTimes = 67;
  for (int i = 1; i < kTimes; ++i) machine().add(*operation, in);
  Bins bins = {}, expected = {};
  expected[255] = uint64_t{kTimes} << 26;
  machine().count(*operation, in, bins);
  EXPECT_EQ(bins, expected);
  machine().take(*operation, bins);
  EXPECT_EQ(bins, Bins{});
}

// ----------------------------------------------------------------------------------- pictures

TEST_P(HistogramTest, FlatPicturesFillOneBin) {
  Random random(0);
  for (const PixelFormat format : {PixelFormat::BGR, PixelFormat::GRAY8, PixelFormat::P010_10LE})
    for (const Content content : {Content::zeros, Content::maximum}) {
      const HistogramParams p = {{format, 640, 480}, {0, 0, 640, 480}};
      Bins bins = {};
      const InputPicture in(random, p.in, content);
      machine().count(*machine()->histogram(p), in, bins);
      // By the formula, white has 254.99998 after five roundings, or 255.
      const int bin = content == Content::zeros    ? 0
                      : format == PixelFormat::BGR ? oracle::luminance(255, 255, 255)
                                                   : 255;
      EXPECT_EQ(bins[static_cast<size_t>(bin)], 640u * 480u);
    }
}

TEST_P(HistogramTest, EveryValueOfAFlatPicture) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (const PixelFormat format : {PixelFormat::GRAY8, PixelFormat::I420, PixelFormat::P010_10LE,
                                   PixelFormat::BGR, PixelFormat::xRGB, PixelFormat::RGBP}) {
    const HistogramParams p = {{format, 333, 57}, {1, 2, 331, 53}};
    const auto operation = machine()->histogram(p);
    InputPicture in(random, p.in);
    for (int value = 0; value < 256; ++value) {
      const auto v = static_cast<uint8_t>(value);
      in.fill(v);
      Bins bins = {}, expected = {};
      expected[oracle::format_of(format).is_rgb() ? oracle::luminance(v, v, v) : v] = 331 * 53;
      machine().count(*operation, in, bins);
      EXPECT_EQ(bins, expected) << text_of(p) << ", all " << value;
    }
  }
}

/// Rows begin and end anywhere between two vectors.
TEST_P(HistogramTest, EveryAlignmentAndWidth) {
  for (const PixelFormat format : {PixelFormat::GRAY8, PixelFormat::NV12, PixelFormat::P010_10LE,
                                   PixelFormat::BGR, PixelFormat::BGRx, PixelFormat::BGRP}) {
    Random random(0);
    SCOPED_TRACE(random.name());
    const InputPicture in(random, {format, 111, 3});
    for (int x = 0; x <= 40; ++x)
      for (int width = 1; width <= 70; ++width) {
        const HistogramParams p = {{format, 111, 3}, {x, 0, width, 3}};
        const Machine &machine = any(random);
        Bins bins = {}, expected = {};
        oracle::histogram(p, in.view(), expected);
        machine.count(*machine->histogram(p), in, bins);
        EXPECT_EQ(bins, expected) << text_of(p) << ", " << machine.name();
        if (HasFailure()) return;
      }
  }
}

/// Rows without gaps are counted as one row. Rows that begin between vectors have pixels before the
/// first vector.
TEST_P(HistogramTest, EveryAddress) {
  uint64_t number = 0;
  for (const PixelFormat format : kAllFormats)
    for (size_t offset = 0; offset < 16; ++offset)
      for (const size_t unit : {1, 4, 64})
        for (const int most : {9, 40, 70}) {
          Random random(number++);
          SCOPED_TRACE(random.name());
          const bool whole = random.chance(60);
          const Rect roi = {whole ? 0 : random.integer(0, 7), whole ? 0 : random.integer(0, 3),
                            random.integer(1, most), random.integer(1, 7)};
          const int right = whole ? 0 : random.integer(0, 5), below = random.integer(0, 2);
          const HistogramParams p = {
              {format, roi.x + roi.width + right, roi.y + roi.height + below}, roi};
          // All planes are aligned the same way, or each differently.
          const Lay lay = {offset, unit, random.chance(30) ? 1 : 0};
          const Lay other = random.chance(70) ? lay : Lay{offset / 2, unit, 0};
          const InputPicture in(random, p.in, {lay, other, lay});
          const Machine &machine = any(random);
          Bins bins = random_bins(random);
          machine.count(*machine->histogram(p), in, bins);
          EXPECT_EQ(bins, counted(p, in)) << text_of(p) << ", " << machine.name();
          if (HasFailure()) return;
        }
}

/// Rows consist of whole vectors, with gaps between them or without.
TEST_P(HistogramTest, EveryWidthInVectors) {
  uint64_t number = 0;
  for (const PixelFormat format : kAllFormats)
    for (const size_t unit : {1, 16, 64})
      for (int width = 16; width <= 160; width += 16) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        const int height = random.integer(1, 90);
        const HistogramParams p = {{format, width, height}, {0, 0, width, height}};
        const InputPicture in(random, p.in, {Lay{0, unit, 0}, Lay{0, unit, 0}, Lay{0, unit, 0}});
        const Machine &machine = any(random);
        Bins bins = random_bins(random);
        machine.count(*machine->histogram(p), in, bins);
        EXPECT_EQ(bins, counted(p, in)) << text_of(p) << ", " << machine.name();
        if (HasFailure()) return;
      }
}

TEST_P(HistogramTest, TallAndWide) {
  uint64_t number = 0;
  for (const PixelFormat format : kAllFormats)
    for (const Size size : {Size{1, 5000}, {5000, 1}, {3, 1700}, {1700, 3}, {17, 611}}) {
      Random random(number++);
      SCOPED_TRACE(random.name());
      expect_as_the_oracle(random,
                           {{format, size.width, size.height}, {0, 0, size.width, size.height}},
                           random.pick(kAllContents));
    }
}

TEST_P(HistogramTest, TenBitsCountByTheUpperEight) {
  Random random(0);
  const HistogramParams p = {{PixelFormat::P010_10LE, 1, 1}, {0, 0, 1, 1}};
  const InputPicture in(random, p.in);
  Bins bins = {};
  machine().count(*machine()->histogram(p), in, bins);
  EXPECT_EQ(bins[in.view().planes[0].data[1]], 1u);  // little endian: the second byte
}

TEST_P(HistogramTest, VideoFrames) {
  Random random(0);
  SCOPED_TRACE(random.name());
  expect_as_the_oracle(random, {{PixelFormat::NV12, 1920, 1080}, {0, 0, 1920, 1080}},
                       Content::random);
  expect_as_the_oracle(random, {{PixelFormat::BGR, 1920, 1080}, {101, 53, 1701, 999}},
                       Content::random);
  expect_as_the_oracle(random, {{PixelFormat::GRAY8, 1920, 1080}, {0, 0, 1920, 1080}},
                       Content::zeros);
}

TEST_P(HistogramTest, LongestRowsAndColumns) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (const PixelFormat format :
       {PixelFormat::NV12, PixelFormat::BGR, PixelFormat::xRGB, PixelFormat::P010_10LE}) {
    expect_as_the_oracle(random, {{format, 32767, 2}, {0, 0, 32767, 2}}, Content::random);
    expect_as_the_oracle(random, {{format, 2, 32767}, {1, 32766, 1, 1}}, Content::random);
    expect_as_the_oracle(random, {{format, 32767, 2}, {32766, 1, 1, 1}}, Content::random);
  }
}

TEST_P(HistogramTest, RefusesARegionOutsideThePicture) {
  for (const Rect roi :
       {Rect{-1, 0, 5, 5}, Rect{0, -1, 5, 5}, Rect{0, 0, 0, 5}, Rect{0, 0, 5, 0}, Rect{0, 0, 65, 5},
        Rect{60, 0, 5, 5}, Rect{0, 44, 5, 5}, Rect{64, 0, 1, 1}, Rect{2147483647, 0, 2147483647, 1},
        Rect{1, 1, 2147483647, 2147483647}, Rect{0, 0, -1, -1}})
    expect_refusal(Error::Code::settings, "roi", [&] {
      machine()->histogram({{PixelFormat::NV12, 64, 48}, roi});
    });
  EXPECT_NO_THROW(machine()->histogram({{PixelFormat::NV12, 64, 48}, {59, 43, 5, 5}}));
}

TEST_P(HistogramTest, RefusesSizesOutOfRange) {
  for (const auto &[size, cause] : {std::pair{Size{0, 48}, "0x48"},
                                    {Size{64, 0}, "64x0"},
                                    {Size{32768, 48}, "32768x48"},
                                    {Size{64, 32768}, "64x32768"}})
    expect_refusal(Error::Code::settings, cause, [&, size = size] {
      machine()->histogram({{PixelFormat::NV12, size.width, size.height}, {0, 0, 1, 1}});
    });
}

// ------------------------------------------------------------------------------------ clip_roi

void expect_clipped(Rect roi, Rect expected) {
  const Rect r = clip_roi(roi, 64, 48).value();
  EXPECT_EQ(r.x, expected.x);
  EXPECT_EQ(r.y, expected.y);
  EXPECT_EQ(r.width, expected.width);
  EXPECT_EQ(r.height, expected.height);
}

TEST(ClipRoi, KeepsWhatLiesInThePicture) {
  expect_clipped({1, 2, 3, 4}, {1, 2, 3, 4});
  expect_clipped({0, 0, 64, 48}, {0, 0, 64, 48});
  expect_clipped({-5, -7, 10, 10}, {0, 0, 5, 3});
  expect_clipped({60, 40, 100, 100}, {60, 40, 4, 8});
  expect_clipped({-5, -5, 2147483647, 2147483647}, {0, 0, 64, 48});
  expect_clipped({63, 47, 2147483647, 2147483647}, {63, 47, 1, 1});
}

TEST(ClipRoi, HasNoValueWhenNothingIsLeft) {
  for (const Rect roi :
       {Rect{64, 0, 1, 1}, Rect{0, 48, 1, 1}, Rect{-5, 0, 5, 5},
        Rect{-2147483647 - 1, 0, 2147483647, 1}, Rect{2147483647, 0, 2147483647, 1}})
    EXPECT_FALSE(clip_roi(roi, 64, 48).has_value());
}

TEST(ClipRoi, RefusesSidesBelowOne) {
  for (const Rect roi : {Rect{0, 0, 0, 1}, Rect{0, 0, 1, -1}, Rect{100, 100, 0, 0}})
    expect_refusal(Error::Code::settings, "roi", [&] { clip_roi(roi, 64, 48); });
}

// ---------------------------------------------------------------------------------- statistics

void expect_statistics(const Bins &bins) {
  const HistogramStatistics s = statistics_of(bins), expected = oracle::statistics(bins);
  EXPECT_EQ(s.pixels, expected.pixels);
  EXPECT_NEAR(s.mean, expected.mean, 1e-9);
  EXPECT_NEAR(s.stddev, expected.stddev, 1e-9);
  EXPECT_EQ(s.min, expected.min);
  EXPECT_EQ(s.max, expected.max);
  EXPECT_EQ(s.median, expected.median);
  EXPECT_EQ(s.p1, expected.p1);
  EXPECT_EQ(s.p5, expected.p5);
  EXPECT_EQ(s.p95, expected.p95);
  EXPECT_EQ(s.p99, expected.p99);
}

TEST(Statistics, RandomBins) {
  for_cases(5000, [](Random &random) {
    Bins bins = {};
    const int used = random.integer(0, 20), most = random.chance(50) ? 3 : 60;
    for (int i = 0; i < used; ++i)
      bins[random.bits() % 256] += static_cast<uint64_t>(random.integer(1, most));
    expect_statistics(bins);
  });
}

TEST(Statistics, AreZeroWithoutPixels) {
  const HistogramStatistics s = statistics_of({});
  EXPECT_EQ(s.pixels, 0u);
  EXPECT_EQ(s.mean, 0.0);
  EXPECT_EQ(s.stddev, 0.0);
  EXPECT_EQ(s.max, 0u);
  EXPECT_EQ(s.p99, 0u);
}

TEST(Statistics, PercentilesAtTheirSteps) {
  // 100 pixels, one in each of the bins 1..100: percentile p is bin p.
  Bins bins = {};
  for (size_t i = 1; i <= 100; ++i) bins[i] = 1;
  const HistogramStatistics s = statistics_of(bins);
  EXPECT_EQ(s.p1, 1u);
  EXPECT_EQ(s.p5, 5u);
  EXPECT_EQ(s.median, 50u);
  EXPECT_EQ(s.p95, 95u);
  EXPECT_EQ(s.p99, 99u);
  EXPECT_EQ(s.mean, 50.5);
  EXPECT_NEAR(s.stddev, std::sqrt(9999.0 / 12.0), 1e-12);
}

TEST(Statistics, CountLongIntervals) {
  // A year of 8K frames at 60 Hz in two bins.
  Bins bins = {};
  bins[10] = uint64_t{1} << 54;
  bins[250] = uint64_t{1} << 54;
  const HistogramStatistics s = statistics_of(bins);
  EXPECT_EQ(s.pixels, uint64_t{1} << 55);
  EXPECT_NEAR(s.mean, 130.0, 1e-9);
  EXPECT_NEAR(s.stddev, 120.0, 1e-9);
  EXPECT_EQ(s.median, 10u);
  EXPECT_EQ(s.p95, 250u);
}

}  // namespace
}  // namespace cudatensor
